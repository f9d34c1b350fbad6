package main

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"loadline.dev/loadline/hack/kernellab/mixes"
	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/queueing"
)

// predict returns the dilations that the model gives the pods of a mix. It is given the loadings that were observed:
// those of few random bursts are not what they were drawn by.
func predict(mix []mixes.Row) ([]float64, error) {
	var vectors []loading.Vector
	var sharing contention.Sharing
	for i := range mix {
		r := &mix[i]
		observed := min(1, r.Together.Computed/r.Together.Own)
		d := loading.Demand{Loading: observed, Pressure: observed, Threads: r.Threads, Burst: r.Burst / 1000}
		share := loading.Share{Weight: float64(r.Weight), Burst: d.Burst}
		switch limit := float64(r.Limit) / 1000; {
		case r.Spare > 0: // what is saved makes up for most bursts
			share.Limit = limit
		case limit > 0:
			share = share.Under(limit, d)
		}
		vectors, sharing.Shares = append(vectors, loading.Vector{d}), append(sharing.Shares, share)
	}
	p, err := contention.PredictSharing(vectors, []int{mix[0].Processors}, sharing, queueing.Options{})
	if err != nil {
		return nil, err
	}
	return p.Dilations, nil
}

// accuracy is how far predictions are from what was measured, of some pods.
type accuracy struct {
	pods             int
	sum, bias, worst float64 // of relative errors
	where            string  // the worst one is
}

func (a *accuracy) add(r *mixes.Row, predicted float64) {
	off := predicted/r.Dilation - 1
	a.pods++
	a.sum += math.Abs(off)
	a.bias += off
	if math.Abs(off) > a.worst {
		a.worst, a.where = math.Abs(off), fmt.Sprintf("mix %s, pod %d: %.2f, predicted %.2f", r.Mix, r.Pod, r.Dilation, predicted)
	}
}

func (a *accuracy) mean() float64 { return a.sum / float64(max(1, a.pods)) }

// aspects are the pods whose errors are summed up together.
var aspects = []struct {
	name string
	of   func(r *mixes.Row) bool
}{
	{"all", func(*mixes.Row) bool { return true }},
	{"mixes of odd numbers", func(r *mixes.Row) bool { return number(r)%2 == 1 }},
	{"mixes of even numbers", func(r *mixes.Row) bool { return number(r)%2 == 0 }},
	{"equal requests", func(r *mixes.Row) bool { return kindOf(r) == "equal" }},
	{"unequal requests", func(r *mixes.Row) bool { return kindOf(r) == "unequal" }},
	{"equal requests, limits", func(r *mixes.Row) bool { return kindOf(r) == "equal-limits" }},
	{"unequal requests, limits", func(r *mixes.Row) bool { return kindOf(r) == "unequal-limits" }},
	{"threads, equal requests", func(r *mixes.Row) bool { return kindOf(r) == "equal-threads" }},
	{"threads, unequal requests", func(r *mixes.Row) bool { return kindOf(r) == "unequal-threads" }},
	{"threads, equal requests, limits", func(r *mixes.Row) bool { return kindOf(r) == "equal-limits-threads" }},
	{"threads, unequal requests, limits", func(r *mixes.Row) bool { return kindOf(r) == "unequal-limits-threads" }},
	{"pods with a limit", func(r *mixes.Row) bool { return r.Limit > 0 }},
	{"pods that never sleep", func(r *mixes.Row) bool { return r.Loading == 1 }},
	{"constant bursts", func(r *mixes.Row) bool { return r.Kind == mixes.Constant && r.Loading < 1 }},
	{"bursts below 2 ms", func(r *mixes.Row) bool { return r.Burst < 2 && r.Loading < 1 }},
	{"bursts of 2 to 20 ms", func(r *mixes.Row) bool { return r.Burst >= 2 && r.Burst < 20 && r.Loading < 1 }},
	{"bursts above 20 ms", func(r *mixes.Row) bool { return r.Burst >= 20 && r.Loading < 1 }},
	{"a process per burst", func(r *mixes.Row) bool { return r.Forks }},
}

// number and kindOf return the parts of the name of a mix that [draw] made; 0 and "" of another one.
func number(r *mixes.Row) int {
	before, _, _ := strings.Cut(r.Mix, "-")
	n, err := strconv.Atoi(before)
	if err != nil {
		return 0
	}
	return n
}

func kindOf(r *mixes.Row) string {
	_, kind, _ := strings.Cut(r.Mix, "-")
	return kind
}

// judge returns the accuracy of the model by aspect.
func judge(rows []mixes.Row) ([]accuracy, error) {
	found := make([]accuracy, len(aspects))
	for _, mix := range mixes.ByMix(rows) {
		if mix[0].Dilation == 0 {
			return nil, fmt.Errorf("mix %s: there are no results: want a table that kernellab run has written", mix[0].Mix)
		}
		predicted, err := predict(mix)
		if err != nil {
			return nil, fmt.Errorf("mix %s: %w", mix[0].Mix, err)
		}
		for i := range mix {
			for k, a := range aspects {
				if a.of(&mix[i]) {
					found[k].add(&mix[i], predicted[i])
				}
			}
		}
	}
	return found, nil
}

// writeAccuracy writes a table of what judge returns.
func writeAccuracy(w io.Writer, found []accuracy) {
	const percent = 100
	fmt.Fprintln(w, "| pods | number | off by, on average | bias | at worst |")
	fmt.Fprintln(w, "|---|---|---|---|---|")
	for k, a := range found {
		if a.pods > 0 {
			fmt.Fprintf(w, "| %s | %d | %.1f %% | %+.1f %% | %.1f %% (%s) |\n", aspects[k].name, a.pods,
				percent*a.mean(), percent*a.bias/float64(a.pods), percent*a.worst, a.where)
		}
	}
}
