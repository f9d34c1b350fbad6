package audit

// Findings are what is wrong with the rights of accounts.
type Findings struct {
	// Forbidden are the requests that were refused, the first of each kind.
	Forbidden []Request
	// Unused are the grants that no request needed.
	Unused []Grant
}

// Check compares what accounts asked with what they are granted. Grants are
// distinct: the same right by two roles is used by both.
func Check(requests []Request, grants []Grant) Findings {
	var f Findings
	type kind struct {
		account string
		right   Right
		path    string
	}
	seen := map[kind]bool{}
	used := make([]bool, len(grants))
	for i := range requests {
		r := &requests[i]
		if k := (kind{r.Account, r.Right, r.Path}); r.Forbidden && !seen[k] {
			seen[k] = true
			f.Forbidden = append(f.Forbidden, *r)
		}
		for j := range grants {
			used[j] = used[j] || !r.Forbidden && grants[j].allows(r)
		}
	}
	for i := range grants {
		if !used[i] {
			f.Unused = append(f.Unused, grants[i])
		}
	}
	return f
}
