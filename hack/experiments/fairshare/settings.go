package main

import (
	"fmt"
	"strings"

	"loadline.dev/loadline/pkg/model/fairshare"
)

// service is the mean CPU time of a job in seconds: some slices of the kernel's
// scheduler (some milliseconds), so that it can tell the workloads apart.
const service = 0.010

// setting is a tree of shares and utilizations to measure.
type setting struct {
	name string
	root *fairshare.Group
	// fixed jobs all take the mean CPU time, others exponentially distributed ones.
	fixed bool
}

// settings are all there are.
func settings() []setting {
	return []setting{
		flat("1:1", workload("a", 1, 0.4), workload("b", 1, 0.4)),
		flat("1:4", workload("a", 1, 0.4), workload("b", 4, 0.4)),
		flat("1:10", workload("a", 1, 0.4), workload("b", 10, 0.4)),
		flat("1:10, 60 % busy", workload("a", 1, 0.3), workload("b", 10, 0.3)),
		{name: "1:10, fixed demand", fixed: true, root: &fairshare.Group{Children: []*fairshare.Group{
			fixed(workload("a", 1, 0.4)), fixed(workload("b", 10, 0.4)),
		}}},
		flat("1:2:4:8", workload("a", 1, 0.2), workload("b", 2, 0.2), workload("c", 4, 0.2), workload("d", 8, 0.2)),
		flat("tree 3(1:4) 1(1:4)",
			group("x", 3, workload("a", 1, 0.2), workload("b", 4, 0.2)),
			group("y", 1, workload("c", 1, 0.2), workload("d", 4, 0.2))),
	}
}

// settingsNamed returns the setting of a name, or all for "".
func settingsNamed(name string) ([]setting, error) {
	if name == "" {
		return settings(), nil
	}
	var names []string
	for _, s := range settings() {
		if s.name == name {
			return []setting{s}, nil
		}
		names = append(names, s.name)
	}
	return nil, fmt.Errorf("--setting: %q is none of: %s", name, strings.Join(names, "; "))
}

func flat(name string, children ...*fairshare.Group) setting {
	return setting{name: name, root: &fairshare.Group{Children: children}}
}

func group(name string, share float64, children ...*fairshare.Group) *fairshare.Group {
	return &fairshare.Group{Name: name, Share: share, Children: children}
}

func workload(name string, share, utilization float64) *fairshare.Group {
	return &fairshare.Group{Name: name, Share: share, Utilization: utilization, Service: service}
}

// fixed returns the workload with jobs that all take the mean time.
func fixed(w *fairshare.Group) *fairshare.Group {
	w.SecondMoment = w.Service * w.Service
	return w
}

// workloads returns the leaves of a tree from left to right, as
// [fairshare.Tree.Workloads] does.
func workloads(g *fairshare.Group) []*fairshare.Group {
	if g.Children == nil {
		return []*fairshare.Group{g}
	}
	var leaves []*fairshare.Group
	for _, child := range g.Children {
		leaves = append(leaves, workloads(child)...)
	}
	return leaves
}
