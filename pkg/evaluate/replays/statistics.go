package replays

import (
	"fmt"
	"math"
	"strconv"

	"github.com/DataDog/sketches-go/ddsketch"

	"loadline.dev/loadline/pkg/model/epochs"
	"loadline.dev/loadline/pkg/text"
)

// measures are the summarized values of the jobs of a run, and their places. Samples hold the
// excess of a value over its least: a sketch represents 0 exactly, so that jobs that are not
// dilated have a dilation of 1.
var measures = []struct {
	of    func(*epochs.Outcome) float64
	in    func(*Result) *Summary
	least float64
}{
	{of: (*epochs.Outcome).Response, in: func(r *Result) *Summary { return &r.Response }},
	{of: (*epochs.Outcome).Execution, in: func(r *Result) *Summary { return &r.Execution }},
	{of: (*epochs.Outcome).Wait, in: func(r *Result) *Summary { return &r.Wait }},
	dilation: {of: (*epochs.Outcome).Dilation, in: func(r *Result) *Summary { return &r.Dilation }, least: 1},
}

const dilation = 3 // among the measures

// statistics add up the outcomes of the jobs of a run, in memory that does not grow with their
// number.
type statistics struct {
	result  *Result
	samples []*ddsketch.DDSketchWithExactSummaryStatistics // per measure
}

func newStatistics(run Run) (*statistics, error) {
	const accuracy = 0.001 // of quantiles, relative
	s := &statistics{result: &Result{Policy: run.Policy, Seed: run.Seed}}
	for range measures {
		sample, err := ddsketch.NewDefaultDDSketchWithExactSummaryStatistics(accuracy)
		if err != nil {
			return nil, err
		}
		s.samples = append(s.samples, sample)
	}
	return s, nil
}

// done counts a job that was done.
func (s *statistics) done(o *epochs.Outcome) error {
	r := s.result
	r.Jobs++
	if o.Start > o.Arrival {
		r.Waited++
	}
	if sla := slaOf(&o.Job); sla != nil {
		if r.SLA == nil {
			r.SLA = &SLACount{}
		}
		r.SLA.Jobs++
		if sla.kept(o) {
			r.SLA.Kept++
		}
	}
	for i, measure := range measures {
		if err := s.samples[i].Add(measure.of(o) - measure.least); err != nil {
			return fmt.Errorf("job %q: %w", o.Name, err)
		}
	}
	return nil
}

// Names and reasons in a result have this many bytes at most.
const (
	maxName   = 80
	maxReason = 400
)

func (s *statistics) dropped(d *epochs.Drop) {
	if s.result.FirstDrop == "" {
		s.result.FirstDrop = fmt.Sprintf("job %s: %s", text.Abridge(d.Name, maxName), text.Abridge(d.Reason, maxReason))
	}
}

func (s *statistics) skipped(line int, name, reason string) {
	s.result.Skipped++
	if s.result.FirstSkip == "" {
		s.result.FirstSkip = "line " + strconv.Itoa(line) + ": job " + text.Abridge(name, maxName) + " " + text.Abridge(reason, maxReason)
	}
}

// finish fills in the sums over the whole run.
func (s *statistics) finish(r *Replay, sum *epochs.Result) error {
	s.result.Dropped = sum.Dropped
	if s.result.Jobs == 0 {
		return nil
	}
	s.result.MakespanSeconds = sum.Makespan()
	for i, measure := range measures {
		sample := s.samples[i]
		values, err := sample.GetValuesAtQuantiles([]float64{0.5, 0.95, 0.99, 1})
		if err != nil {
			return err
		}
		*measure.in(s.result) = Summary{
			Mean: sample.GetSum()/sample.GetCount() + measure.least,
			P50:  values[0] + measure.least, P95: values[1] + measure.least, P99: values[2] + measure.least, Max: values[3] + measure.least,
		}
	}
	var err error
	s.result.DilationQuantiles, err = percentiles(s.samples[dilation], measures[dilation].least)
	s.result.Utilization = r.utilization(sum)
	return err
}

// percentiles returns the quantiles at the fractions 0, 0.01, … 1, with no more
// digits than they are exact to.
func percentiles(sample *ddsketch.DDSketchWithExactSummaryStatistics, least float64) ([]float64, error) {
	fractions := make([]float64, 101)
	for i := range fractions {
		fractions[i] = float64(i) / 100
	}
	values, err := sample.GetValuesAtQuantiles(fractions)
	for i, value := range values {
		values[i] = math.Round((value+least)*1e4) / 1e4
	}
	return values, err
}

// utilization returns that of the resources that were used at all.
func (r *Replay) utilization(sum *epochs.Result) []ResourceUtilization {
	var list []ResourceUtilization
	for i, name := range r.resources.Names() {
		busy, servers, busiest, node := 0.0, 0, 0.0, 0
		for _, class := range r.nodes {
			for range class.Count {
				busy += sum.Busy[node][i]
				servers += class.Servers[i]
				if class.Servers[i] > 0 {
					busiest = max(busiest, sum.Busy[node][i]/float64(class.Servers[i]))
				}
				node++
			}
		}
		if busy > 0 && sum.Makespan() > 0 {
			list = append(list, ResourceUtilization{name, busy / float64(servers) / sum.Makespan(), busiest / sum.Makespan()})
		}
	}
	return list
}
