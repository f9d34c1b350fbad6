package report

import (
	"fmt"
	"math"
	"slices"

	"loadline.dev/loadline/pkg/evaluate/replays"
	"loadline.dev/loadline/pkg/report/chart"
)

// ReplayMakespans returns the chart of the makespan of each run, by seed and
// policy: Fig. 4 of the Epochs paper. Of many seeds it shows the first. It is nil
// if there is no run with a job.
func ReplayMakespans(a *replays.Answer) chart.Chart {
	if !anyJob(a) {
		return nil
	}
	c := chart.Comparison{Title: "Makespan of each stream of jobs", Quantity: "makespan", Unit: "s", CasesAre: "stream (seed)"}
	seeds := map[uint64]int{}
	most := min(chart.MaxComparisonCases, chart.MaxComparisonDots/len(a.Policies))
	for i := range a.Policies {
		for _, run := range a.Policies[i].Runs {
			if _, known := seeds[run.Seed]; known {
				continue
			}
			if len(seeds) == most {
				c.Title = fmt.Sprintf("Makespan of each of the first %d streams of jobs", most)
				break
			}
			seeds[run.Seed] = len(seeds)
			c.Cases = append(c.Cases, fmt.Sprint(run.Seed))
		}
	}
	if len(c.Cases) == 0 {
		return nil
	}
	for i := range a.Policies {
		values := make([]float64, len(c.Cases))
		for k := range values {
			values[k] = math.NaN()
		}
		for _, run := range a.Policies[i].Runs {
			if at, ok := seeds[run.Seed]; ok && run.Jobs > 0 {
				values[at] = run.MakespanSeconds
			}
		}
		c.Contenders = append(c.Contenders, chart.Contender{Name: a.Policies[i].Policy, Values: values})
	}
	return c
}

func anyJob(a *replays.Answer) bool {
	return slices.ContainsFunc(a.Policies, func(p replays.Policy) bool { return p.Jobs > 0 })
}

// ReplayDilations returns the chart of the distributions of the dilation, of the
// first run of each policy; nil if none is known.
func ReplayDilations(a *replays.Answer) chart.Chart {
	d := chart.Distribution{Title: "How much longer jobs run than alone", Quantity: "dilation", Unit: "×", Of: "jobs"}
	for i := range a.Policies {
		if len(a.Policies[i].Runs) == 0 || len(a.Policies[i].Runs[0].DilationQuantiles) == 0 {
			continue
		}
		run := a.Policies[i].Runs[0]
		if len(a.Policies[i].Runs) > 1 {
			d.Title = fmt.Sprintf("How much longer jobs run than alone (seed %d)", run.Seed)
		}
		sample := chart.Sample{Name: run.Policy, Mean: run.Dilation.Mean, Count: run.Jobs}
		for k, q := range run.DilationQuantiles {
			sample.Quantiles = append(sample.Quantiles, chart.Quantile{Fraction: float64(k) / float64(len(run.DilationQuantiles)-1), Value: q})
		}
		d.Samples = append(d.Samples, sample)
	}
	if len(d.Samples) == 0 {
		return nil
	}
	return d
}

// ReplayImprovements returns the chart of the improvements over the first policy;
// nil if there are none.
func ReplayImprovements(a *replays.Answer) chart.Chart {
	if len(a.Policies) == 0 {
		return nil
	}
	c := chart.Intervals{
		Title: "Mean response time saved", Quantity: "less than with " + a.Policies[0].Policy, Unit: "%",
		Zero: "as " + a.Policies[0].Policy, Confidence: 0.95,
	}
	for i := range a.Policies {
		e := a.Policies[i].Improvement
		if e == nil {
			continue
		}
		estimate := chart.Estimate{Name: a.Policies[i].Policy, Value: 100 * e.Mean, Low: math.NaN(), High: math.NaN()}
		if e.Low != nil {
			estimate.Low, estimate.High = 100**e.Low, 100**e.High
		}
		c.Estimates = append(c.Estimates, estimate)
	}
	if len(c.Estimates) == 0 {
		return nil
	}
	return c
}

// ReplayOccupancy returns the chart of how busy the nodes were in a run, nil if that
// was not recorded.
func ReplayOccupancy(run *replays.Result) chart.Chart {
	if run.Occupancy == nil || run.Jobs == 0 {
		return nil
	}
	o := chart.Occupancy{
		Title: "The busiest resource of each node, with " + run.Policy, Quantity: "utilization", Unit: "%",
		BinSeconds: run.Occupancy.BinSeconds, Full: 100,
	}
	for row, levels := range run.Occupancy.Levels() {
		for i := range levels {
			levels[i] *= 100
		}
		o.Strips = append(o.Strips, chart.Strip{Machine: run.Occupancy.Rows[row], Values: levels})
	}
	return o
}
