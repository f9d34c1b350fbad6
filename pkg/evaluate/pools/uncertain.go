package pools

import (
	"fmt"
	"strings"
)

// Uncertain names the numbers of servers that the error of an approximation may change, and the
// largest such error: "checkout may need one server more (± 2.6%)". It is empty if there are none.
func (a *Answer) Uncertain() string {
	var uncertain []string
	for i := range a.Pools {
		p := &a.Pools[i]
		uncertain = appendUncertain(uncertain, p.Name, p.Error, p.FewerMayDo, p.MoreMayBeNeeded)
	}
	for i := range a.Alternatives {
		other := &a.Alternatives[i]
		for k := range other.Pools {
			p := &other.Pools[k]
			name := p.Name
			if len(other.Pools) > 1 {
				name = fmt.Sprintf("%s of %s pools", p.Name, other.Strategy)
			}
			uncertain = appendUncertain(uncertain, name, p.Error, p.FewerMayDo, p.MoreMayBeNeeded)
		}
	}
	return strings.Join(uncertain, ", ")
}

func appendUncertain(uncertain []string, pool string, bound float64, fewer, more bool) []string {
	var what string
	switch {
	case fewer && more:
		what = "may need one server more, or do with one fewer"
	case fewer:
		what = "may do with one server fewer"
	case more:
		what = "may need one server more"
	default:
		return uncertain
	}
	return append(uncertain, fmt.Sprintf("%s %s (± %.1f%%)", pool, what, 100*bound))
}
