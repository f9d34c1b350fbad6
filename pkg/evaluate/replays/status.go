package replays

import (
	"math"
	"strconv"

	"k8s.io/apimachinery/pkg/api/resource"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

// Status fills in the results of an answer. Of a policy with which no job was done
// there is nothing but the numbers of its runs and jobs.
func (*Replay) Status(status *v1alpha1.TraceReplayStatus, a *Answer) {
	status.Results, status.Best = nil, a.Best
	for i := range a.Policies {
		p := &a.Policies[i]
		result := v1alpha1.ReplayResult{
			Policy: p.Policy, Runs: new(int32(len(p.Runs))), Jobs: new(int64(p.Jobs)), Dropped: new(int64(p.Dropped)),
		}
		if p.Jobs > 0 {
			p.describe(&result)
		}
		status.Results = append(status.Results, result)
	}
}

// describe fills in the figures of completed jobs.
func (p *Policy) describe(result *v1alpha1.ReplayResult) {
	result.MakespanMillis, result.WaitMeanMillis = millis(p.MakespanSeconds.Mean), millis(p.Wait.Mean)
	result.Execution = &v1alpha1.MillisSummary{
		MeanMillis: millis(p.Execution.Mean), P50Millis: millis(p.Execution.P50),
		P95Millis: millis(p.Execution.P95), P99Millis: millis(p.Execution.P99),
	}
	result.Dilation = &v1alpha1.QuantitySummary{
		Mean: decimal(p.Dilation.Mean), P50: decimal(p.Dilation.P50), P95: decimal(p.Dilation.P95), P99: decimal(p.Dilation.P99),
	}
	if p.SLAAttained != nil {
		result.SLAAttained = decimal(*p.SLAAttained)
	}
	if p.Improvement == nil {
		return
	}
	result.Improvement = decimal(p.Improvement.Mean)
	if p.Improvement.Low != nil {
		result.ImprovementLow, result.ImprovementHigh = decimal(*p.Improvement.Low), decimal(*p.Improvement.High)
	}
}

func millis(seconds float64) *int64 { return new(int64(math.Round(seconds * 1000))) }

// decimal returns a quantity, to a thousandth.
func decimal(x float64) *resource.Quantity {
	return new(resource.MustParse(strconv.FormatFloat(x, 'f', 3, 64)))
}
