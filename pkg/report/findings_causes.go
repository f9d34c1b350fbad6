package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"loadline.dev/loadline/pkg/evaluate/observed"
	"loadline.dev/loadline/pkg/text"
)

const (
	// fewCauses is how many neighbours have a name of their own where there is little room, and allCauses where there is much.
	fewCauses = 2
	allCauses = 1000
	// smallCause is the part of a dilation below which a cause is not named, and smallPart the fraction of all causes below
	// which it is not named beside others.
	smallCause = 0.05
	smallPart  = 0.1
	// namedOfMany is how many of many neighbours are named.
	namedOfMany = 3
)

func shownCauses(wide bool) int {
	if wide {
		return allCauses
	}
	return fewCauses
}

// reason is a cause, or many neighbours that are small causes, together, some of which are named in brackets.
type reason struct {
	kind        observed.Kind
	name, among string
	dilation    float64
}

func (r *reason) words() string {
	words := r.name + " " + text.Added(r.dilation)
	if r.among != "" {
		words += " (" + r.among + ")"
	}
	return words
}

// because names the causes that matter most, of neighbours no more than a number, and the others together.
func because(causes []observed.Cause, maxShown int) string {
	least := smallCause
	if maxShown < allCauses {
		least = max(smallCause, smallPart*observed.Causes(causes).Sum())
	}
	var parts []string
	for i, r := range reasons(causes, maxShown, least) {
		if i > 0 && r.dilation < smallCause || i >= maxShown && r.dilation < least {
			break
		}
		parts = append(parts, r.words())
	}
	return cmp.Or(strings.Join(parts, ", "), text.Absent)
}

// reasons returns the causes, the largest first, with the neighbours together that are more than a number or less than the least.
func reasons(causes []observed.Cause, maxShown int, least float64) []reason {
	var all []reason
	var many []observed.Cause
	named := 0
	for _, c := range causes { // the largest first
		if c.Kind == observed.ByNeighbour {
			if named >= maxShown || c.Dilation < least {
				many = append(many, c)
				continue
			}
			named++
		}
		all = append(all, reason{c.Kind, cause(&c), "", c.Dilation})
	}
	if len(many) > 0 {
		all = append(all, together(many))
	}
	slices.SortStableFunc(all, func(a, b reason) int { return cmp.Compare(b.dilation, a.dilation) })
	return all
}

// together returns neighbours as one reason: "44 pods together +0.80 (a, b, c and 41 more)".
func together(many []observed.Cause) reason {
	sum := 0.0
	var names []string
	what := "workload"
	for i := range many {
		sum += many[i].Dilation
		names = append(names, cause(&many[i]))
		if many[i].Pod != "" {
			what = "pod"
		}
	}
	if len(many) == 1 {
		return reason{observed.ByNeighbour, names[0], "", sum}
	}
	shown := names
	if more := len(names) - namedOfMany; more > 1 {
		shown = append(slices.Clone(names[:namedOfMany-1]), fmt.Sprintf("%s and %s more", names[namedOfMany-1], text.Count(int64(more))))
	}
	return reason{observed.ByNeighbour, text.Counted(len(many), what) + " together", strings.Join(shown, ", "), sum}
}
