package fairshare

import (
	"fmt"
	"math"
)

// Group is a group of a tree, or a workload: a leaf.
type Group struct {
	// Name tells it from its siblings. The root needs none.
	Name string
	// Share is its weight among its siblings, between 1e-100 and 1e100. That of the
	// root has no meaning.
	Share float64
	// Utilization is the mean number of processors that a workload keeps busy, at
	// least 0: its rate of arrivals times its mean service time. With one processor
	// that is the fraction of it. At 0 its response time is that of a rare job.
	Utilization float64
	// Service is the mean service time of a workload in seconds, between 1e-50 and
	// 1e50; 0 is 1.
	Service float64
	// SecondMoment is the mean of the square of a workload's service time, in
	// square seconds, at least Service² and at most 1e150; 0 is
	// 2·Service², which exponential service times have.
	SecondMoment float64
	// Children are the members of a group. Nil makes it a workload; a group must
	// have some.
	Children []*Group
}

// A ValueError says which value is invalid and why.
type ValueError struct {
	Path  string // the path of the group or workload; "" for the whole tree or an option
	Field string // such as share
	Value any    // the value found; nil if there is none
	Rule  string // the rule that it breaks
}

func (e *ValueError) Error() string {
	text := e.Rule
	if e.Value != nil {
		text = fmt.Sprintf("%v %s", e.Value, e.Rule)
	}
	if e.Field != "" {
		text = e.Field + ": " + text
	}
	if e.Path != "" {
		text = e.Path + ": " + text
	}
	return text
}

// Limits that keep all results finite.
const (
	maxShare        = 1e100
	maxService      = 1e50
	maxSecondMoment = 1e150
)

// validate returns nil, or a ValueError for what is wrong with g itself.
func (g *Group) validate(path string, root bool) error {
	if !root {
		if g.Name == "" {
			return &ValueError{path, "name", nil, "is empty: what has siblings needs a name"}
		}
		if !(g.Share > 0) || math.IsInf(g.Share, 1) {
			return &ValueError{path, "share", g.Share, "is not a finite number above 0; leave out what should get nothing"}
		}
		if g.Share < 1/maxShare || g.Share > maxShare {
			return &ValueError{path, "share", g.Share, "is not between 1e-100 and 1e100; only the ratios of shares matter"}
		}
	}
	if g.Children == nil && !root {
		return g.validateWorkload(path)
	}
	if len(g.Children) == 0 {
		return &ValueError{path, "", nil, "is a group with no workload"}
	}
	for _, own := range []struct {
		field string
		value float64
	}{{"utilization", g.Utilization}, {"service", g.Service}, {"secondMoment", g.SecondMoment}} {
		if own.value != 0 {
			return &ValueError{path, own.field, own.value, "is that of a group; only workloads have one"}
		}
	}
	return nil
}

func (g *Group) validateWorkload(path string) error {
	for _, own := range []struct {
		field string
		value float64
	}{{"utilization", g.Utilization}, {"service", g.Service}, {"secondMoment", g.SecondMoment}} {
		if !(own.value >= 0) || math.IsInf(own.value, 1) {
			return &ValueError{path, own.field, own.value, "is not a finite number of at least 0"}
		}
	}
	service, second := g.moments()
	if service < 1/maxService || service > maxService {
		return &ValueError{path, "service", service, "is not between 1e-50 and 1e50 seconds"}
	}
	if second > maxSecondMoment {
		return &ValueError{path, "secondMoment", second, "is above 1e150 square seconds"}
	}
	const rounding = 1e-12
	if second < service*service*(1-rounding) {
		return &ValueError{path, "secondMoment", second, fmt.Sprintf("is below the square of the mean service time, %v", service*service)}
	}
	return nil
}

// moments returns the first two moments of the service time of a workload.
func (g *Group) moments() (service, second float64) {
	service = g.Service
	if service == 0 {
		service = 1
	}
	second = g.SecondMoment
	if second == 0 {
		second = 2 * service * service
	}
	return service, second
}
