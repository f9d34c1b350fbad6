package experiment_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/experiment"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/queueing"
	"loadline.dev/loadline/test/oracle"
)

// resources are a CPU with two cores and a disk.
func resources() []experiment.Resource {
	return []experiment.Resource{
		{Name: "cpu", Servers: 2, Threads: 1, CPU: true, Conserving: true},
		{Name: "disk", Servers: 1, Threads: 1, Conserving: true},
	}
}

// site is a node with the CPU and the disk, and neighbours.
func site(name string, neighbours ...loading.Vector) experiment.Host {
	return experiment.Host{Name: name, Resources: []string{"cpu", "disk"}, Servers: []int{2, 1}, Neighbours: neighbours}
}

type fatal interface{ Fatal(args ...any) }

// dilation returns that of the first of some jobs among the neighbours of a node.
func dilation(t fatal, n experiment.Host, jobs ...loading.Vector) float64 {
	p, err := contention.Predict(append(jobs, n.Neighbours...), n.Servers, queueing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return p.Dilations[0]
}

// probeOf returns the vector of the probe of a resource.
func probeOf(n experiment.Host, resource int) loading.Vector {
	probe := make(loading.Vector, len(n.Servers))
	probe[resource] = loading.Demand{Loading: 1, Pressure: 1, Threads: n.Servers[resource]}
	return probe
}

const neutral = 20e9 // nanoseconds

// ofTarget returns the samples of a round with a target among the neighbours of a node, as
// the model predicts them.
func ofTarget(t fatal, n experiment.Host, round int, target loading.Vector) []experiment.Sample {
	samples := []experiment.Sample{{Round: round, Step: experiment.Alone, TargetNanos: neutral * dilation(t, n, target)}}
	for i, name := range n.Resources {
		probe := probeOf(n, i)
		samples = append(samples, experiment.Sample{
			Round: round, Step: experiment.Beside(name), SelfDilation: 2,
			TargetNanos: neutral * dilation(t, n, target, probe), ProbeDilation: dilation(t, n, probe, target) / dilation(t, n, probe),
		})
	}
	return samples
}

// ofService returns the samples of a round with pods that run on a node anyway.
func ofService(t fatal, here, there experiment.Host, round int, pods ...loading.Vector) []experiment.Sample {
	cpu, disk := probeOf(here, 0), probeOf(here, 1)
	beside := func(probe loading.Vector) float64 {
		return dilation(t, here, append([]loading.Vector{probe}, pods...)...)
	}
	return []experiment.Sample{
		{Round: round, Step: experiment.Beside("cpu"), ProbeDilation: beside(cpu), ProbeUnitsPerSecond: 1000 / beside(cpu)},
		{Round: round, Step: experiment.Baseline("disk"), ProbeUnitsPerSecond: 500 / dilation(t, there, disk)},
		{Round: round, Step: experiment.Beside("disk"), ProbeUnitsPerSecond: 500 / beside(disk)},
	}
}

// estimated corrects the samples of rounds and compares the results with the truth.
func estimated(t *rapid.T, e experiment.Experiment, s experiment.Site, want loading.Vector, samples func(round int) []experiment.Sample) experiment.Result {
	const rounds = 3
	var all []experiment.Sample
	for round := 1; round <= rounds; round++ {
		var err error
		if all, err = e.Correct(append(all, samples(round)...), round, s); err != nil {
			t.Fatal(err)
		}
	}
	got, err := e.Estimate(all, rounds)
	if err != nil || got.Contradiction != nil || len(got.Components) != len(want) {
		t.Fatalf("got %+v, %v", got, err)
	}
	for _, c := range got.Components {
		// The components are solved for in turn until none changes by 1e-5.
		if w := want[c.Index]; math.Abs(c.Loading.Value-w.Loading) > 0.01 || math.Abs(c.Pressure.Value-w.Pressure) > 0.01 {
			t.Fatalf("%s: loading %v and pressure %v, want %v", e.Resources[c.Index].Name, c.Loading, c.Pressure, w.Loading)
		}
	}
	return got
}

// vectors draws up to three neighbours.
func vectors(t *rapid.T, what string) []loading.Vector {
	all := make([]loading.Vector, rapid.IntRange(0, 3).Draw(t, what))
	for i := range all {
		all[i] = vector(t, what, 1)
	}
	return all
}

// vector draws a job that is busy for a fraction of its time at most.
func vector(t *rapid.T, what string, busy float64) loading.Vector {
	cpu := rapid.Float64Range(0, busy).Draw(t, what+"'s cpu")
	return loading.Loadings(cpu, rapid.Float64Range(0, busy-cpu).Draw(t, what+"'s disk"))
}

func TestATargetIsRecoveredAmongNeighbours(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n, target := site("worker-1", vectors(t, "neighbours")...), vector(t, "target", 0.9)
		e := experiment.Experiment{Resources: resources()}
		got := estimated(t, e, experiment.Site{Node: n}, target, func(round int) []experiment.Sample { return ofTarget(t, n, round, target) })
		if math.Abs(got.Neutral.Value/neutral-1) > 0.01 {
			t.Fatalf("the neutral time is %v, want %v", got.Neutral, neutral)
		}
	})
}

// The baseline of the disk is from a node with other neighbours.
func TestAServiceIsRecoveredAmongNeighbours(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		here, there := site("worker-1", vectors(t, "neighbours")...), site("worker-2", vectors(t, "neighbours elsewhere")...)
		pod := vector(t, "pod", 0.9)
		pods := slices.Repeat([]loading.Vector{pod}, rapid.IntRange(1, 2).Draw(t, "pods"))
		e := experiment.Experiment{Resources: resources(), Service: true}
		s := experiment.Site{Node: here, Baseline: &there, Pods: len(pods)}
		estimated(t, e, s, pod, func(round int) []experiment.Sample { return ofService(t, here, there, round, pods...) })
	})
}

func TestSamplesOfOtherRoundsStayAsTheyAre(t *testing.T) {
	t.Parallel()
	n := site("worker-1", loading.Loadings(0.3, 0.2))
	first := ofTarget(t, n, 1, loading.Loadings(0.5, 0.3))
	all := append(slices.Clone(first), ofTarget(t, n, 2, loading.Loadings(0.5, 0.3))...)
	given := slices.Clone(all)
	e := experiment.Experiment{Resources: resources()}
	got, err := e.Correct(all, 2, experiment.Site{Node: n})
	if err != nil || !slices.Equal(got[:len(first)], first) || slices.Equal(got, all) {
		t.Errorf("got %+v, %v", got, err)
	}
	if !slices.Equal(all, given) {
		t.Error("the samples were changed in place")
	}
	e.Copies = true
	if got, err = e.Correct(all, 2, experiment.Site{Node: n}); err != nil || !slices.Equal(got, all) {
		t.Errorf("samples of copies: got %+v, %v", got, err)
	}
}

func TestWhatCannotBeCorrectedIsSaid(t *testing.T) {
	t.Parallel()
	n := site("worker-1", loading.Loadings(0.3, 0.2))
	samples := ofTarget(t, n, 1, loading.Loadings(0.5, 0.3))
	unknown := n
	unknown.Resources = []string{"cpu", "network"}
	impossible := slices.Clone(samples)
	impossible[2].ProbeDilation = 30
	for want, test := range map[string]struct {
		node    experiment.Host
		samples []experiment.Sample
	}{
		`no node is said to have the resource "disk"`:        {unknown, samples},
		"disk beside the other pods of node worker-1: ratio": {n, impossible},
	} {
		_, err := experiment.Experiment{Resources: resources()}.Correct(test.samples, 1, experiment.Site{Node: test.node})
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// A probe of the disk computes for a tenth of its time, and the disk serves it for 19
// twentieths of the rest.
func TestWhatAProbeComputesIsNoPartOfItsResource(t *testing.T) {
	t.Parallel()
	const computing, served = 0.1, 0.95
	n, target := site("worker-1"), loading.Loadings(0.5, 0.4)
	n.Servers[0] = 1
	all := resources()
	all[0].Servers = 1
	there := served * (1 - computing)
	probe := loading.Vector{{Loading: computing, Pressure: computing, Threads: 1}, {Loading: there, Pressure: there, Threads: 1}}
	var samples []experiment.Sample
	for round := 1; round <= 3; round++ {
		samples = append(samples, ofTarget(t, n, round, target)...)
		last := &samples[len(samples)-1]
		last.SelfDilation, last.ProbeComputing = 1+served*served, new(computing)
		last.ProbeDilation, last.TargetNanos = dilation(t, n, probe, target), neutral*dilation(t, n, target, probe)
	}
	got, err := experiment.Experiment{Resources: all}.Estimate(samples, 3)
	if err != nil || len(got.Components) != 2 {
		t.Fatalf("got %+v, %v", got, err)
	}
	// What the probe waits at the CPU and at the disk is separated to first order.
	if disk := got.Components[1]; math.Abs(disk.Loading.Value-0.4) > 0.03 || math.Abs(disk.Pressure.Value-0.4) > 0.03 {
		t.Errorf("loading %v and pressure %v, want 0.4", disk.Loading, disk.Pressure)
	}
}

func TestAResourceThatIsNotKeptBusyIsGivenUp(t *testing.T) {
	t.Parallel()
	n := site("worker-1")
	samples := ofTarget(t, n, 1, loading.Loadings(0.5, 0.3))
	samples[2].SelfDilation = 1.2
	got, err := experiment.Experiment{Resources: resources()}.Estimate(samples, 1)
	if err != nil || !slices.Equal(got.Unsaturated, []int{1}) || len(got.Components) != 1 || got.Components[0].Index != 0 {
		t.Errorf("got %+v, %v", got, err)
	}
	if experiment.Unsaturated(samples, "disk", 0) || !experiment.Unsaturated(samples, "disk", 1) || experiment.Unsaturated(samples, "cpu", 1) {
		t.Error("the disk is unsaturated as of round 1, the CPU is not")
	}
}

// copiesOf returns the samples of a round of copies, by Property 1 of the D-factor paper.
func copiesOf(round int, p float64) []experiment.Sample {
	samples := []experiment.Sample{{Round: round, Step: experiment.Alone, TargetNanos: neutral}}
	for n := 2; n <= 3; n++ {
		samples = append(samples, experiment.Sample{Round: round, Step: experiment.CopiesOf(n), TargetNanos: neutral * oracle.DilationOfCopies(n, p, 1-p)})
	}
	return samples
}

func TestCopiesAndOneProbeTellTwoLoadings(t *testing.T) {
	t.Parallel()
	e := experiment.Experiment{Resources: resources(), Copies: true}
	samples := copiesOf(1, 0.8)
	if _, err := e.Estimate(samples, 1); err == nil || err.Error() != "the step beside the probe is missing" {
		t.Errorf("got %v", err)
	}
	for dilation, cpu := range map[float64]float64{1.8: 0.8, 1.2: 0.2} {
		beside := experiment.Sample{Round: 1, Step: experiment.Beside("cpu"), ProbeDilation: dilation, SelfDilation: 2}
		got, err := e.Estimate(append(slices.Clone(samples), beside), 1)
		if err != nil || got.Contradiction != nil || len(got.Components) != 2 {
			t.Fatalf("got %+v, %v", got, err)
		}
		// Three copies dilate each other by Property 1 here.
		if a, b := got.Components[0].Loading.Value, got.Components[1].Loading.Value; math.Abs(a-cpu) > 1e-6 || math.Abs(a+b-1) > 1e-9 {
			t.Errorf("got (%v, %v), want (%v, %v)", a, b, cpu, 1-cpu)
		}
	}
}

func TestLoadingsThatClearlyAddUpToMoreThanTheTimeContradict(t *testing.T) {
	t.Parallel()
	var samples []experiment.Sample
	for round := 1; round <= 3; round++ {
		for _, s := range ofTarget(t, site("worker-1"), round, loading.Loadings(0, 0)) {
			if s.Step != experiment.Alone {
				s.ProbeDilation, s.TargetNanos = 1.4, neutral*1.4
			}
			samples = append(samples, s)
		}
	}
	e := experiment.Experiment{Resources: resources()}
	e.Resources[0].Conserving, e.Resources[1].Conserving = false, false
	got, err := e.Estimate(samples, 3)
	if err != nil || got.Contradiction == nil || !strings.Contains(got.Contradiction.Error(), "clearly more than 1: cpu 0.80 ± 0.00 and disk 0.40 ± 0.00 overlap") {
		t.Errorf("got %+v, %v", got, err)
	}
}
