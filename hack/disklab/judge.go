package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"loadline.dev/loadline/hack/recording"
	"loadline.dev/loadline/pkg/evaluate/findings"
	observer "loadline.dev/loadline/pkg/evaluate/observed"
	"loadline.dev/loadline/pkg/gauge/history"
	"loadline.dev/loadline/pkg/gauge/reading"
	"loadline.dev/loadline/pkg/gauge/usage"
	"loadline.dev/loadline/pkg/model/loading"
)

func judgeCommand() *cobra.Command {
	pressureOnly, ownClock := false, false
	c := &cobra.Command{
		Use:   "judge FILE",
		Short: "Compare what is said of the pods of a recording with how long they took",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			r := &recorded{}
			if err := recording.Load(args[0], r); err != nil {
				return err
			}
			if pressureOnly {
				r.forgetDelays()
			}
			if ownClock {
				r.haveDelays()
			}
			return judgeAll(c.OutOrStdout(), r)
		},
	}
	pressureFlag(c.Flags(), &pressureOnly)
	c.Flags().BoolVar(&ownClock, "own-clock", false, "have each task blocked for as long as its job says, as an account of tasks without errors would")
	c.MarkFlagsMutuallyExclusive("pressure-only", "own-clock")
	return c
}

// haveDelays makes the intervals those of a kernel that accounts for how long each task is blocked, without errors.
func (r *recorded) haveDelays() {
	for i := range r.Mixes {
		m := &r.Mixes[i]
		for k := range m.Runs {
			m.Runs[k].haveDelays(m)
		}
	}
}

func (r *run) haveDelays(m *mixRecord) {
	r.Interval, r.Readings = r.interval(), nil
	for i, job := range r.Jobs {
		at := slices.IndexFunc(r.Interval.Pods, func(p usage.Pod) bool { return p.UID == podUID(job) })
		if at < 0 || m.Jobs[job].Program != "" {
			continue
		}
		p, own, threads := &r.Interval.Pods[at], &r.Pods[i], float64(m.Jobs[job].Depth)
		p.BlockedBy, p.Threads, p.Blocked = usage.ByTasks, threads, own.Latency*float64(own.Units)
		p.DiskLoading = min(1-p.CPULoading, p.Blocked/(threads*r.Seconds)*p.Dilation)
	}
}

// forgetDelays makes the readings those of a kernel that accounts the pressure of pods alone.
func (r *recorded) forgetDelays() {
	for i := range r.Mixes {
		for k := range r.Mixes[i].Runs {
			for _, of := range r.Mixes[i].Runs[k].Readings {
				of.BlockedKnown = false
			}
		}
	}
}

// judgeAll shows what became of the pods of a recording.
func judgeAll(out io.Writer, r *recorded) error {
	all, err := r.fates()
	if err != nil {
		return err
	}
	return showFates(out, all)
}

// fates returns what became of the pods of all mixes that wait for the disk. What operations take on the quiet disk is learned from the runs alone,
// as a gauge learns it.
func (r *recorded) fates() (all []fate, err error) {
	g, err := newGauge()
	if err != nil {
		return nil, err
	}
	for i := range r.Mixes {
		for k := range r.Mixes[i].Runs {
			if alone := &r.Mixes[i].Runs[k]; len(alone.Jobs) == 1 {
				if _, err := g.report(alone); err != nil {
					return nil, err
				}
			}
		}
	}
	for i := range r.Mixes {
		fates, err := r.Mixes[i].fates(g, r.Processors)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.Mixes[i].Name, err)
		}
		all = append(all, fates...)
	}
	return all, nil
}

// interval returns what a gauge reports of a run, of its readings where these were kept.
func (r *run) interval() *usage.Interval {
	if len(r.Readings) != 2 {
		return r.Interval
	}
	return reading.Between(r.Readings[0], r.Readings[1], labNode, nil)
}

// gauge is one that remembers what operations take.
type gauge struct{ kept *history.History }

func newGauge() (*gauge, error) {
	kept, err := history.New(1, clock.RealClock{})
	return &gauge{kept}, err
}

// report returns what the gauge reports of a run.
func (g *gauge) report(r *run) (*usage.Interval, error) {
	v := *r.interval()
	if err := g.kept.Add(&v); err != nil {
		return nil, err
	}
	return &v, json.Unmarshal(g.kept.Last(1)[0], &v)
}

// fates returns what became of the pods of a mix that wait for the disk.
func (m *mixRecord) fates(g *gauge, processors int) ([]fate, error) {
	vectors, known := make([]loading.Vector, len(m.Jobs)), true
	all, alone := make([]fate, len(m.Jobs)), make([][]float64, len(m.Jobs))
	together := 0.0
	for i := range m.Runs {
		r := &m.Runs[i]
		v, err := g.report(r)
		if err != nil {
			return nil, err
		}
		of, err := said(v, len(m.Jobs))
		if err != nil {
			return nil, err
		}
		switch len(r.Jobs) {
		case 1:
			job := r.Jobs[0]
			vector, is := aloneIn(v, job)
			vectors[job], known = vector, known && is
			alone[job] = append(alone[job], of[job].dilation)
		case len(m.Jobs):
			together++
			for k := range of {
				all[k].observed += of[k].dilation
				all[k].atDisk += of[k].added
				all[k].blamed = of[k].first
			}
		}
	}
	predicted := slices.Repeat([]float64{math.NaN()}, len(m.Jobs))
	if known {
		var err error
		if predicted, err = predict(vectors, processors); err != nil {
			return nil, err
		}
	}
	var waiting []fate
	for k := range all {
		f, t := &all[k], &m.Truth[k]
		if t.Together <= 0 || m.Jobs[k].Program == "" && !m.Jobs[k].waits() {
			continue
		}
		f.mix, f.job, f.truth, f.predicted = &m.mix, m.Jobs[k], t, predicted[k]
		f.observed, f.atDisk = f.observed/together*float64(len(alone[k]))/sum(alone[k]), f.atDisk/together
		waiting = append(waiting, *f)
	}
	return waiting, nil
}

// aloneIn returns the vector of a pod that ran alone, and whether it says how much the pod is at the disk.
func aloneIn(v *usage.Interval, pod int) (loading.Vector, bool) {
	alone := observer.AloneIn(v)
	for i := range v.Pods {
		if p := &v.Pods[i]; p.UID == podUID(pod) {
			threads := max(1, int(math.Round(p.Threads)))
			return loading.Vector{
				{Loading: alone[i].CPU, Pressure: alone[i].CPU, Threads: threads}, {Loading: alone[i].Disk, Pressure: alone[i].Disk, Threads: threads},
			}, alone[i].DiskKnown
		}
	}
	return loading.Vector{{Threads: 1}, {Threads: 1}}, true // it did nothing
}

// said returns what Loadline says of each pod by an interval.
func said(v *usage.Interval, pods int) ([]claim, error) {
	in := &observer.Input{
		Nodes: []corev1.Node{{
			ObjectMeta: metav1.ObjectMeta{Name: v.Node},
			Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{
				corev1.ResourceCPU: *resource.NewQuantity(int64(v.CPUs), resource.DecimalSI), corev1.ResourcePods: resource.MustParse("110"),
			}},
		}},
		Sights: []observer.Sight{{Node: v.Node, Intervals: []usage.Interval{*v}}},
	}
	names := make([]string, pods)
	for i := range pods {
		p := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: fmt.Sprint("pod-", i), UID: types.UID(podUID(i))}}
		p.Spec.NodeName, p.Spec.Containers, p.Status.Phase = v.Node, []corev1.Container{{Name: "main"}}, corev1.PodRunning
		in.Pods, names[i] = append(in.Pods, p), "lab/"+p.Name
	}
	c := observer.Observe(in, observer.DefaultAbove)
	c.SolveAll()
	a, err := findings.Of(c, observer.DefaultAbove, nil)
	if err != nil {
		return nil, err
	}
	all := make([]claim, pods)
	for i := range all {
		all[i] = claim{pod: i, dilation: 1, first: -1}
	}
	for i := range a.Pods {
		at := slices.Index(names, a.Pods[i].Pod)
		if at < 0 {
			continue
		}
		of := &all[at]
		of.dilation = a.Pods[i].Dilation
		for _, cause := range a.Pods[i].Causes {
			if cause.Kind == observer.ByNeighbour && of.first < 0 {
				of.first = slices.Index(names, cause.Pod)
			}
			if cause.Resource != observer.Disk {
				continue
			}
			of.added += cause.Dilation
			if cause.Kind == observer.ByNeighbour {
				of.neighbour += cause.Dilation
			}
		}
	}
	return all, nil
}
