package findings

import (
	"slices"
	"strings"

	"loadline.dev/loadline/pkg/evaluate/observed"
	"loadline.dev/loadline/pkg/evaluate/plan"
)

// Rights says what a reader may list.
type Rights interface {
	// Pods reports whether the reader may list the pods of a namespace.
	Pods(namespace string) bool
	// Nodes reports whether the reader may list nodes.
	Nodes() bool
}

// What stands in place of names that a reader may not see.
const (
	HiddenPod  = "a pod of another namespace"
	HiddenNode = "another node"
	// HiddenProblem stands in place of why nothing is observed on a node.
	HiddenProblem = "its gauge does not answer"
)

// VisibleTo returns the part of an answer that is about the pods a reader may list. Of the other pods, which slow these down or are part of
// the plan, it has what they do, but not their names, nor those of their nodes where the reader may not list nodes either. Texts that may
// have such names are left out.
func (a *Answer) VisibleTo(r Rights) *Answer {
	visible := *a
	h := hider{rights: r, nodes: map[string]bool{}}
	visible.Pods = slices.DeleteFunc(slices.Clone(a.Pods), func(p Pod) bool { return h.hides(p.Pod) })
	for i := range visible.Pods {
		p := &visible.Pods[i]
		h.nodes[p.Node] = true
		p.Causes, p.PerUnit = h.causes(p.Causes), h.perUnit(p.PerUnit)
	}
	visible.Findings = slices.DeleteFunc(slices.Clone(a.Findings), func(f Finding) bool { return h.hides(f.Pod.Pod) })
	for i := range visible.Findings {
		f := &visible.Findings[i]
		f.Causes, f.PerUnit = h.causes(f.Causes), h.perUnit(f.PerUnit)
		f.Remedy = h.remedy(&f.Remedy)
	}
	visible.unseen = slices.DeleteFunc(slices.Clone(a.unseen), func(p unseenPod) bool { return !r.Pods(p.namespace) })
	visible.Unseen = len(visible.unseen)
	visible.Short, visible.Unsure = 0, 0
	for i := range visible.Pods {
		switch p := &visible.Pods[i]; {
		case p.Short:
			visible.Short++
		case p.unsure(a.Above):
			visible.Unsure++
		}
	}
	visible.Nodes = h.summaries(a.Nodes)
	visible.Plan = h.plan(a.Plan)
	return &visible
}

// hider hides names.
type hider struct {
	rights Rights
	nodes  map[string]bool // those of the pods that are visible
}

// hides reports whether the name of a pod, as namespace/name, is hidden.
func (h *hider) hides(pod string) bool {
	namespace, _, _ := strings.Cut(pod, "/")
	return !h.rights.Pods(namespace)
}

func (h *hider) pod(name string) string {
	if name != "" && h.hides(name) {
		return HiddenPod
	}
	return name
}

func (h *hider) node(name string) string {
	if name == "" || h.nodes[name] || h.rights.Nodes() {
		return name
	}
	return HiddenNode
}

func (h *hider) causes(all []observed.Cause) []observed.Cause {
	all = slices.Clone(all)
	for i := range all {
		c := &all[i]
		if c.Pod != "" && h.hides(c.Pod) {
			c.Pod, c.Workload = HiddenPod, ""
		}
	}
	return all
}

// perUnit hides the workloads that slower service goes with, such as Deployment shop/cart.
func (h *hider) perUnit(u *PerUnit) *PerUnit {
	if u == nil || len(u.Beside) == 0 {
		return u
	}
	hidden := *u
	hidden.Beside = make([]string, 0, len(u.Beside))
	for _, workload := range u.Beside {
		if h.hides(workload[strings.LastIndex(workload, " ")+1:]) {
			workload = HiddenPod
		}
		if !slices.Contains(hidden.Beside, workload) {
			hidden.Beside = append(hidden.Beside, workload)
		}
	}
	return &hidden
}

func (h *hider) remedy(r *Remedy) Remedy {
	hidden := *r
	if r.Pod != "" && h.hides(r.Pod) {
		hidden.Pod, hidden.Container = HiddenPod, ""
	}
	hidden.Node = h.node(r.Node)
	if r.Problem != "" && r.Problem != unplannedService {
		hidden.Problem = "what that takes may have names of others"
	}
	hidden.Others = slices.Clone(r.Others)
	for i := range hidden.Others {
		hidden.Others[i].Pod = h.pod(hidden.Others[i].Pod)
	}
	if r.ByHand != nil {
		hidden.ByHand = &ByHand{r.ByHand.Device, h.pod(r.ByHand.Pod)}
	}
	return hidden
}

func (h *hider) summaries(all []NodeSummary) []NodeSummary {
	all = slices.DeleteFunc(slices.Clone(all), func(n NodeSummary) bool { return !h.nodes[n.Name] && !h.rights.Nodes() })
	for i := range all {
		if all[i].Problem != "" { // it may name the gauge's pod
			all[i].Problem = HiddenProblem
		}
	}
	return all
}

func (h *hider) plan(p *plan.Plan) *plan.Plan {
	if p == nil {
		return nil
	}
	hidden := &plan.Plan{Above: p.Above, Excess: p.Excess, Left: p.Left, Steps: slices.Clone(p.Steps)}
	for i := range hidden.Steps {
		s := &hidden.Steps[i]
		if h.hides(s.Pod) {
			s.Pod, s.Workload, s.Container = HiddenPod, "", ""
		}
		s.Node, s.To = h.node(s.Node), h.node(s.To)
		s.Notes = nil
		if s.NotInPlace != "" {
			s.NotInPlace = "the pod has to be made anew"
		}
		s.Pods = slices.Clone(s.Pods)
		for k := range s.Pods {
			s.Pods[k].Pod = h.pod(s.Pods[k].Pod)
		}
	}
	return hidden
}
