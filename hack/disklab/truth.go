package main

import (
	"math"
	"slices"
)

// truth is what a pod of a mix suffered, by its own clock.
type truth struct {
	// Alone and Together are units per second, LatencyAlone and LatencyTogether the seconds of an operation.
	Alone           float64 `json:"alone"`
	Together        float64 `json:"together"`
	LatencyAlone    float64 `json:"latencyAlone"`
	LatencyTogether float64 `json:"latencyTogether"`
	// Dilation is Alone / Together.
	Dilation float64 `json:"dilation"`
	// Without has the units per second without each other pod, where such runs were made, in the order of the pods; 0 for itself.
	Without []float64 `json:"without,omitempty"`
	// Culprit is the index of the pod whose removal helps most, -1 where the pod is not slowed by as much as a victim is.
	Culprit int `json:"culprit"`
	// Noisy reports whether a run that this is by was noisy.
	Noisy bool `json:"noisy,omitempty"`
}

// victim is from which dilation on a pod is one.
const victim = 1.2

// judge returns the truth of each pod of a mix by its runs.
func judge(pods int, runs []run) []truth {
	all := make([]truth, pods)
	for pod := range all {
		t := &all[pod]
		t.Culprit = -1
		isAlone := func(r run) bool { return len(r.Jobs) == 1 }
		isTogether := func(r run) bool { return len(r.Jobs) == pods }
		t.Alone, t.LatencyAlone = t.mean(pod, runs, isAlone)
		t.Together, t.LatencyTogether = t.mean(pod, runs, isTogether)
		if t.Together > 0 {
			t.Dilation = rounded(t.Alone/t.Together, 1e4)
		}
		if t.Dilation < victim {
			continue
		}
		if pods == 2 {
			t.Culprit = 1 - pod
			continue
		}
		t.Without = make([]float64, pods)
		best := 0.0
		for other := range pods {
			if other == pod {
				continue
			}
			t.Without[other], _ = t.mean(pod, runs, func(r run) bool {
				return len(r.Jobs) == pods-1 && pods > 2 && !slices.Contains(r.Jobs, other)
			})
			if t.Without[other] > best {
				best, t.Culprit = t.Without[other], other
			}
		}
		if best == 0 {
			t.Without = nil
		}
	}
	return all
}

// mean returns the units per second of a pod and its latency, over the runs of a kind that it was in.
func (t *truth) mean(pod int, runs []run, of func(run) bool) (rate, latency float64) {
	n, units := 0.0, 0.0
	for _, r := range runs {
		i := slices.Index(r.Jobs, pod)
		if i < 0 || !of(r) {
			continue
		}
		t.Noisy = t.Noisy || r.Noisy
		n++
		rate += r.rate(i)
		units += float64(r.Pods[i].Units)
		latency += r.Pods[i].Latency * float64(r.Pods[i].Units)
	}
	return rounded(rate/max(1, n), 1e3), rounded(latency/max(1, units), 1e9)
}

// rounded returns a number to a precision of 1 / n: so its decimal form is short.
func rounded(x, n float64) float64 { return math.Round(x*n) / n }
