package findings

import (
	"cmp"
	"slices"
	"strings"

	"loadline.dev/loadline/pkg/evaluate/observed"
)

// Group is the findings about the pods of one workload, or of one node.
type Group struct {
	Workload string `json:"workload,omitempty"`
	Node     string `json:"node,omitempty"`
	// Slowed is how many of its Pods, those that were observed, are slowed down.
	Slowed int `json:"slowed"`
	Pods   int `json:"pods"`
	// Dilation is the mean over the pods that are slowed down, and Worst the largest.
	Dilation float64 `json:"dilation"`
	Worst    float64 `json:"worst"`
	// SinceSeconds is for how long the longest of them has been, and AtLeast as for a [Finding].
	SinceSeconds float64 `json:"sinceSeconds"`
	AtLeast      bool    `json:"atLeast,omitempty"`
	Resource     string  `json:"resource"`
	// Causes are means, too, with pods of one workload taken together.
	Causes []observed.Cause `json:"causes"`
	// Remedy and PerUnit are those of the pod that is worst off, which is of this name.
	Remedy  Remedy   `json:"remedy"`
	PerUnit *PerUnit `json:"perUnit,omitempty"`
	Of      string   `json:"of"`
}

// Felt returns how many times longer the pod that is worst off takes as its users feel it.
func (g *Group) Felt() float64 { return g.feltOr(g.Worst) }

// feltOr returns how much longer a unit of work takes, where that is known, else a dilation.
func (g *Group) feltOr(dilation float64) float64 {
	if g.PerUnit != nil {
		return g.PerUnit.Dilation
	}
	return dilation
}

// ByWorkload returns the findings of an answer by workload, the worst first.
func (a *Answer) ByWorkload() []Group {
	groups, at := []Group{}, map[string]int{}
	for i := range a.Findings { // the worst first
		f := &a.Findings[i]
		k, known := at[f.Workload]
		if !known {
			k = len(groups)
			at[f.Workload] = k
			groups = append(groups, newGroup(f))
		}
		groups[k].add(f)
	}
	for i := range a.Pods {
		if k, known := at[a.Pods[i].Workload]; known {
			groups[k].Pods++
		}
	}
	for k := range groups {
		groups[k].average()
	}
	slices.SortStableFunc(groups, func(a, b Group) int { return cmp.Compare(b.feltOr(b.Dilation), a.feltOr(a.Dilation)) })
	return groups
}

// newGroup returns a group of which a finding is the worst.
func newGroup(f *Finding) Group {
	return Group{Workload: f.Workload, Resource: f.Resource, Remedy: f.Remedy, PerUnit: f.PerUnit, Of: f.Pod.Pod}
}

// average makes means of the sums of a group.
func (g *Group) average() {
	g.Dilation /= float64(g.Slowed)
	for i := range g.Causes {
		g.Causes[i].Dilation /= float64(g.Slowed)
	}
	g.Causes = observed.Causes(g.Causes).Sorted()
}

// add adds a finding to the sums of a group.
func (g *Group) add(f *Finding) {
	g.Slowed++
	g.Dilation += f.Dilation
	g.Worst = max(g.Worst, f.Dilation)
	if f.SinceSeconds > g.SinceSeconds {
		g.SinceSeconds, g.AtLeast = f.SinceSeconds, f.AtLeast
	}
	for _, c := range f.Causes {
		k := slices.IndexFunc(g.Causes, func(o observed.Cause) bool {
			return o.Kind == c.Kind && o.Workload == c.Workload && o.Container == c.Container && o.Resource == c.Resource
		})
		if k < 0 {
			c.Pod = ""
			g.Causes = append(g.Causes, c)
			continue
		}
		known := &g.Causes[k]
		known.Dilation += c.Dilation
		known.Assumed = known.Assumed || c.Assumed
		if known.Device != c.Device {
			known.Device = "" // nodes differ in it
		}
		if known.Limit != nil && (c.Limit == nil || known.Limit.Cmp(*c.Limit) != 0) {
			known.Limit = nil // pods differ in it
		}
	}
}

// In returns the part of the answer that is about the pods of some namespaces and nodes; an empty list stands for all.
// Causes and remedies stay unchanged.
func (a *Answer) In(namespaces, nodes []string) *Answer {
	in := func(namespace, node string) bool {
		return (len(namespaces) == 0 || slices.Contains(namespaces, namespace)) && (len(nodes) == 0 || slices.Contains(nodes, node))
	}
	of := func(p *Pod) bool {
		namespace, _, _ := strings.Cut(p.Pod, "/")
		return in(namespace, p.Node)
	}
	some := *a
	some.Findings, some.Pods, some.Nodes, some.Short, some.Unsure = []Finding{}, []Pod{}, []NodeSummary{}, 0, 0
	some.unseen = slices.DeleteFunc(slices.Clone(a.unseen), func(p unseenPod) bool { return !in(p.namespace, p.node) })
	some.Unseen = len(some.unseen)
	for i := range a.Findings {
		if of(&a.Findings[i].Pod) {
			some.Findings = append(some.Findings, a.Findings[i])
		}
	}
	for i := range a.Pods {
		if of(&a.Pods[i]) {
			some.Pods = append(some.Pods, a.Pods[i])
			if a.Pods[i].Short {
				some.Short++
			}
			if a.Pods[i].unsure(a.Above) {
				some.Unsure++
			}
		}
	}
	for i := range a.Nodes {
		if len(nodes) == 0 || slices.Contains(nodes, a.Nodes[i].Name) {
			some.Nodes = append(some.Nodes, a.Nodes[i])
		}
	}
	return &some
}
