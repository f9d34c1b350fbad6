package replays

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

// Answer is the result of a replay.
type Answer struct {
	// Name is that of the TraceReplay.
	Name string `json:"name,omitempty"`
	// Runs is how many runs there are, Done of how many the answer is.
	Runs int `json:"runs"`
	Done int `json:"done"`
	// Partial reports whether a run was ended before its time, or is missing.
	Partial bool `json:"partial,omitempty"`
	// CPUShares is how jobs share cores, as in the TraceReplay.
	CPUShares string `json:"cpuShares"`
	// DemandsAssumed reports whether the trace has the requests of jobs, from which their demands are assumed.
	DemandsAssumed bool `json:"demandsAssumed,omitempty"`
	// Best is the policy of the least mean response time; of equal ones the first.
	// Empty if no job was done, or some run was ended before its time: then the
	// means are not of the same jobs.
	Best string `json:"best,omitempty"`
	// Policies are the policies with a finished run, in order.
	Policies []Policy `json:"policies"`
}

// Policy is the result of a policy. Numbers are means over its runs, and intervals are of 95 % confidence, by
// Student's t.
type Policy struct {
	Policy string `json:"policy"`
	// Partial reports whether one of its runs was ended before its time, or is missing.
	Partial bool `json:"partial,omitempty"`
	// Jobs and Dropped are of all its runs together.
	Jobs            int                   `json:"jobs"`
	Dropped         int                   `json:"dropped"`
	FirstDrop       string                `json:"firstDrop,omitempty"`
	MakespanSeconds SeedMean              `json:"makespanSeconds"`
	Response        Summary               `json:"response"`
	Execution       Summary               `json:"execution"`
	Wait            Summary               `json:"wait"`
	Waited          int                   `json:"waited"`
	Dilation        Summary               `json:"dilation"`
	Utilization     []ResourceUtilization `json:"utilization,omitempty"`
	// SLAAttained is the fraction of the jobs with an SLA that kept within it.
	SLAAttained *float64 `json:"slaAttained,omitempty"`
	// Improvement is by which fraction the mean response time is less than with
	// the first policy, seed by seed; absent for the first, and where a run of
	// either is missing or was ended before its time.
	Improvement *SeedMean `json:"improvement,omitempty"`
	// Runs are its runs, by seed.
	Runs []*Result `json:"runs"`
}

// SeedMean is the mean over the runs of all seeds, with its confidence interval if
// there are several.
type SeedMean struct {
	Mean float64  `json:"mean"`
	Low  *float64 `json:"low,omitempty"`
	High *float64 `json:"high,omitempty"`
}

// confidence is that of all intervals.
const confidence = 0.95

func seedMean(values []float64) SeedMean {
	mean, deviation := stat.MeanStdDev(values, nil)
	e := SeedMean{Mean: mean}
	if n := float64(len(values)); n > 1 {
		t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}.Quantile((1 + confidence) / 2)
		half := t * deviation / math.Sqrt(n)
		e.Low, e.High = new(mean-half), new(mean+half)
	}
	return e
}

// Merge adds up the results of runs, by their numbers, which may be some of them
// only.
func (r *Replay) Merge(results map[int]*Result) *Answer {
	a := &Answer{Name: r.name, Runs: len(r.runs), Done: len(results), CPUShares: cmp.Or(r.spec.CPUShares, cpuShares[0])}
	a.DemandsAssumed = r.spec.Trace != nil && r.spec.Trace.Format == v1alpha1.TraceFormatOpenB
	for i := range r.policies {
		var runs []*Result
		for seed := range r.seeds() {
			if result := results[i*r.seeds()+seed]; result != nil {
				runs = append(runs, result)
			}
		}
		if len(runs) < r.seeds() {
			a.Partial = true
		}
		if len(runs) == 0 {
			continue
		}
		p := policyAnswer(r.policies[i].Name, runs)
		p.Partial = p.Partial || len(runs) < r.seeds()
		a.Partial = a.Partial || p.Partial
		if i > 0 {
			p.Improvement = improvement(results, i*r.seeds(), r.seeds())
		}
		a.Policies = append(a.Policies, p)
	}
	a.Best = best(a.Policies)
	return a
}

// best returns the policy of the least mean response time.
func best(policies []Policy) string {
	name, least := "", math.Inf(1)
	for i := range policies {
		p := &policies[i]
		if slices.ContainsFunc(p.Runs, func(run *Result) bool { return run.Partial }) {
			return ""
		}
		if p.Jobs > 0 && p.Response.Mean < least*(1-1e-9) {
			name, least = p.Policy, p.Response.Mean
		}
	}
	return name
}

func policyAnswer(name string, runs []*Result) Policy {
	p := Policy{Policy: name, Runs: runs}
	makespans := make([]float64, len(runs))
	sla := SLACount{}
	share := 1 / float64(len(runs))
	for i, run := range runs {
		p.Partial = p.Partial || run.Partial
		p.Jobs += run.Jobs
		p.Dropped += run.Dropped
		p.Waited += run.Waited
		if p.FirstDrop == "" {
			p.FirstDrop = run.FirstDrop
		}
		makespans[i] = run.MakespanSeconds
		p.Response.add(run.Response, share)
		p.Execution.add(run.Execution, share)
		p.Wait.add(run.Wait, share)
		p.Dilation.add(run.Dilation, share)
		if run.SLA != nil {
			sla.Jobs += run.SLA.Jobs
			sla.Kept += run.SLA.Kept
		}
		for _, u := range run.Utilization {
			at := slices.IndexFunc(p.Utilization, func(other ResourceUtilization) bool { return other.Resource == u.Resource })
			if at < 0 {
				at = len(p.Utilization)
				p.Utilization = append(p.Utilization, ResourceUtilization{Resource: u.Resource})
			}
			p.Utilization[at].Mean += share * u.Mean
			p.Utilization[at].Busiest += share * u.Busiest
		}
	}
	p.MakespanSeconds = seedMean(makespans)
	if sla.Jobs > 0 {
		p.SLAAttained = new(float64(sla.Kept) / float64(sla.Jobs))
	}
	return p
}

// add adds a share of another summary: the sums are means over runs.
func (s *Summary) add(other Summary, share float64) {
	s.Mean += share * other.Mean
	s.P50 += share * other.P50
	s.P95 += share * other.P95
	s.P99 += share * other.P99
	s.Max += share * other.Max
}

// improvement compares the runs of a policy with those of the first policy, nil if
// they are not of the same jobs.
func improvement(results map[int]*Result, first, seeds int) *SeedMean {
	var saved []float64
	for seed := range seeds {
		base, run := results[seed], results[first+seed]
		if base == nil || run == nil || base.Partial || run.Partial || base.Response.Mean == 0 {
			return nil
		}
		saved = append(saved, 1-run.Response.Mean/base.Response.Mean)
	}
	return new(seedMean(saved))
}
