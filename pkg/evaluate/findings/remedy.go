package findings

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"loadline.dev/loadline/pkg/evaluate/observed"
	"loadline.dev/loadline/pkg/evaluate/plan"
)

// remedyOf returns what a plan does for a pod that is slowed down.
func remedyOf(p *plan.Plan, of *observed.Pod) Remedy {
	r := Remedy{Action: Leave, Dilation: of.Dilation}
	fate, known := p.Of(of.Name())
	if !known {
		return r
	}
	r.Dilation, r.Margin, r.Problem = fate.Dilation, fate.Margin, fate.Unknown
	if fate.Step < 0 {
		return r
	}
	s := &p.Steps[fate.Step]
	r.Action, r.Step, r.Request, r.Limit = Action(s.Action), fate.Step+1, s.Request, s.Limit
	if s.Pod != of.Name() || s.Action == plan.MovePod {
		r.Pod, r.Node = s.Pod, s.To
	}
	if s.Action == plan.MovePod && s.Pod != of.Name() {
		r.Action = MoveNeighbour
	}
	if !only(of, s) {
		r.Container = s.Container
	}
	for _, e := range s.Pods {
		if e.Pod != of.Name() {
			r.Others = append(r.Others, Change(e))
		}
	}
	return r
}

// worthAdvice is the part of a dilation from which on a cause is worth advice that nothing shows to help.
const worthAdvice = observed.WorthAtLeast

// byHand returns the advice against the largest of some causes at disks, nil where there is none.
func byHand(causes observed.Causes) *ByHand {
	for _, c := range causes.At(observed.Disk) { // the largest first
		switch {
		case c.Dilation < worthAdvice:
			return nil
		case c.Kind == observed.ByNeighbour, c.Kind == observed.ByLimit:
			return &ByHand{Device: c.Device, Pod: c.Pod}
		}
	}
	return nil
}

// only reports whether the container that a step changes is the only one of a pod.
func only(of *observed.Pod, s *plan.Step) bool {
	return s.Pod == of.Name() && len(of.Object.Spec.Containers) == 1 && !slices.ContainsFunc(of.Object.Spec.InitContainers, sidecar)
}

func sidecar(c corev1.Container) bool {
	return c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
}
