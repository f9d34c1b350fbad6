package main

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"loadline.dev/loadline/pkg/model/fairshare"
)

// row is what is known about a workload of a setting, from its undisturbed runs.
// Factors are mean response times relative to the mean CPU time of a job.
type row struct {
	Setting     string  `json:"setting"`
	Workload    string  `json:"workload"` // its path
	Share       float64 `json:"share"`
	Utilization float64 `json:"utilization"`
	Undisturbed int     `json:"undisturbedRuns"`
	Runs        int     `json:"runs"`
	Stretch     float64 `json:"stretch"` // how long there were jobs over the CPU time that they got, a median
	// Measured, Sharing, Discriminatory and Orders are medians over the undisturbed
	// runs: what was measured, and what was computed for the same jobs with
	// generalized and discriminatory processor sharing and with the model's orders of
	// priority.
	Measured       float64 `json:"measured"`
	Sharing        float64 `json:"sharing"`
	Discriminatory float64 `json:"discriminatory"`
	Orders         float64 `json:"orders"`
	// Model is the prediction of package fairshare, for all jobs there could be.
	Model float64 `json:"model"`
	// The measured factor relative to a computed one.
	ToSharing        estimate `json:"measuredToSharing"`
	ToDiscriminatory estimate `json:"measuredToDiscriminatory"`
	ToOrders         estimate `json:"measuredToOrders"`
}

// estimate is a mean over runs and the half width of its 95 % confidence interval, nil
// for a single run.
type estimate struct {
	Mean float64  `json:"mean"`
	Half *float64 `json:"half,omitempty"`
}

// String writes 1.03 ± 0.02.
func (e estimate) String() string {
	if e.Half == nil {
		return fmt.Sprintf("%.3f", e.Mean)
	}
	return fmt.Sprintf("%.3f ± %.3f", e.Mean, *e.Half)
}

// estimated takes the values of runs for independent and normally distributed.
func estimated(values []float64) estimate {
	if len(values) == 1 {
		return estimate{Mean: values[0]}
	}
	mean, deviation := stat.MeanStdDev(values, nil)
	n := float64(len(values))
	const upper = 0.975
	return estimate{mean, new(distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}.Quantile(upper) * deviation / math.Sqrt(n))}
}

// summarize returns a row per workload of the settings that have undisturbed runs.
func summarize(ctx context.Context, chosen []setting, all []aRun) ([]row, error) {
	var rows []row
	for _, s := range chosen {
		runs, undisturbed := 0, []aRun(nil)
		for _, r := range all {
			if r.setting != s.name {
				continue
			}
			runs++
			if r.undisturbed {
				undisturbed = append(undisturbed, r)
			}
		}
		if len(undisturbed) == 0 {
			continue
		}
		tree, err := fairshare.New(s.root)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.name, err)
		}
		predicted, err := fairshare.Solve(context.WithoutCancel(ctx), tree, fairshare.Options{})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.name, err)
		}
		for w, leaf := range tree.Workloads() {
			r := summary(undisturbed, w)
			r.Setting, r.Workload, r.Share, r.Utilization = s.name, leaf.Path, leaf.Share, leaf.Utilization
			r.Undisturbed, r.Runs, r.Model = len(undisturbed), runs, predicted.Factors[w]
			rows = append(rows, r)
		}
	}
	return rows, nil
}

// summary returns the figures of a workload.
func summary(runs []aRun, workload int) row {
	pick := func(f func(factors) float64) []float64 {
		values := make([]float64, len(runs))
		for i, r := range runs {
			values[i] = f(r.factors[workload])
		}
		return values
	}
	stretches := make([]float64, len(runs))
	for i, r := range runs {
		stretches[i] = r.stretch
	}
	return row{
		Stretch:          median(stretches),
		Measured:         median(pick(func(f factors) float64 { return f.measured })),
		Sharing:          median(pick(func(f factors) float64 { return f.sharing })),
		Discriminatory:   median(pick(func(f factors) float64 { return f.discriminatory })),
		Orders:           median(pick(func(f factors) float64 { return f.orders })),
		ToSharing:        estimated(pick(func(f factors) float64 { return f.measured / f.sharing })),
		ToDiscriminatory: estimated(pick(func(f factors) float64 { return f.measured / f.discriminatory })),
		ToOrders:         estimated(pick(func(f factors) float64 { return f.measured / f.orders })),
	}
}

// median returns the middle value, or the mean of the two in the middle.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
