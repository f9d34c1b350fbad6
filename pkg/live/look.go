package live

import (
	"context"
	"io"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/explanation"
	"loadline.dev/loadline/pkg/evaluate/findings"
	"loadline.dev/loadline/pkg/evaluate/inflations"
	"loadline.dev/loadline/pkg/evaluate/observed"
	"loadline.dev/loadline/pkg/evaluate/plan"
)

// Source is where what is shown comes from. It is asked by one caller at a time.
type Source interface {
	// Look returns the present state.
	Look(ctx context.Context) (*Look, error)
}

// Look is the state of a cluster at a moment. It is not changed.
type Look struct {
	// Taken is when it was taken.
	Taken time.Time
	// In is what gauges observed, with the nodes and pods of the cluster, and Options say which changes a plan may have.
	In      *observed.Input
	Options plan.Options
	// Workloads and Classes are the profiles of pods and nodes, and the others what else there is of Loadline's objects.
	Workloads    []v1alpha1.WorkloadProfile
	Classes      []v1alpha1.NodeProfile
	Plans        []v1alpha1.PoolPlan
	Trees        []v1alpha1.ShareTree
	Replays      []v1alpha1.TraceReplay
	Remediations []v1alpha1.Remediation
	Namespaces   []corev1.Namespace
	// Judge has an explanation go by the rules of the cluster's scheduler.
	Judge func(*explanation.Input) error
}

// room returns what an explanation of a pod takes.
func (l *Look) room(pod *corev1.Pod) (*explanation.Input, error) {
	in := &explanation.Input{
		Pod: pod, Nodes: l.In.Nodes, Pods: l.In.Pods, Feasibility: l.Options.Feasibility,
		Workloads: l.Workloads, Classes: l.Classes, Namespaces: l.Namespaces, Weights: l.In.Weights,
	}
	return in, l.Judge(in)
}

// serve adds to the answer about a look how much longer units of the pods' work take, by what profiles say now: of the past they say nothing.
func (l *Look) serve(a *findings.Answer) {
	a.Serve(l.In.Pods, inflations.ByPod(l.Workloads, l.In.Pods))
}

// Applied reads a manifest as kubectl apply takes it: a workload, and profiles and namespaces beside it.
type Applied func(manifest io.Reader) (*explanation.Manifests, error)

// step is the time between moments that can be chosen.
const step = 10 * time.Second

// longestSpan is how far back moments can be chosen: no gauge keeps more, and one that says otherwise would stretch the choice of all.
const longestSpan = 24 * time.Hour

// span returns the moments that a look has observations of: from the first one with a whole window of them by any node to the last. There is
// none to choose where first is not before last, as where no gauge was asked for more than a window.
func (l *Look) span() (first, last time.Time) {
	for i := range l.In.Sights {
		v := l.In.Sights[i].Intervals
		if len(v) == 0 || !possible(&v[0], l.Taken) || !possible(&v[len(v)-1], l.Taken) {
			continue
		}
		begin, end := v[0].Start.Add(observed.Window), v[len(v)-1].End
		if end.After(last) {
			last = end
		}
		if !begin.Add(step).After(end) && (first.IsZero() || begin.Before(first)) {
			first = begin
		}
	}
	if first.IsZero() {
		first = last
	}
	if longest := last.Add(-longestSpan); first.Before(longest) {
		first = longest
	}
	return first.Truncate(step), last.Truncate(step)
}

// kept returns the look with what pages show of it: without all but the last intervals where no moment of the past can be chosen. Of a large
// cluster they take as much memory as its pods.
func (l *Look) kept() *Look {
	if first, last := l.span(); first.Before(last) {
		return l
	}
	less, in := *l, *l.In
	less.In, in.Sights = &in, slices.Clone(in.Sights)
	for i := range in.Sights {
		if v := in.Sights[i].Intervals; len(v) > 0 {
			in.Sights[i].Intervals = slices.Clone(v[len(v)-1:])
		}
	}
	return &less
}

// at returns what was seen until a moment.
func (l *Look) at(t time.Time) *observed.Input {
	in := *l.In
	in.Sights = make([]observed.Sight, 0, len(l.In.Sights))
	for _, s := range l.In.Sights {
		n := len(s.Intervals)
		for n > 0 && s.Intervals[n-1].End.After(t) {
			n--
		}
		if s.Intervals = s.Intervals[:n]; n > 0 {
			s.Age = t.Sub(s.Intervals[n-1].End)
		} else if s.Problem == "" {
			s.Problem = "nothing was observed until then"
		}
		in.Sights = append(in.Sights, s)
	}
	return &in
}
