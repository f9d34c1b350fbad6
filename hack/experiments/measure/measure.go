// Package measure has the operator measure jobs whose loading vectors are known, and keeps what it found for comparisons.
package measure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"loadline.dev/loadline/hack/experiments/job"
	"loadline.dev/loadline/hack/experiments/report"
	"loadline.dev/loadline/hack/experiments/start"
	"loadline.dev/loadline/pkg/probe/result"
	"loadline.dev/loadline/pkg/report/chart"
	"loadline.dev/loadline/pkg/text"
)

// Run is a session that measures.
type Run struct {
	*start.Session
	Known *Findings
	// Out is the folder for charts and findings.
	Out string
	// Kinds names the kinds of jobs to measure.
	Kinds []string
	// Seconds is how long a job runs alone, Repeat how many times, and Rounds how many rounds a measurement has at most.
	Seconds        float64
	Repeat, Rounds int
}

// measured is what is known of a kind, and what the operator found.
type measured struct {
	job.Kind
	known [2]float64 // of the resources, by the job's own account of runs alone
	found vectorFound
}

// Measure has the operator measure jobs whose vectors are known.
func (r *Run) Measure(ctx context.Context) (err error) {
	fmt.Printf("1. Jobs of known loading vectors, measured on node %s\n\n", start.First)
	if r.Known.IOJob != r.Device.Job || len(r.Kinds) == len(job.Kinds(r.Device.Job)) {
		*r.Known = Findings{IOJob: r.Device.Job}
	}
	if r.Known.Speeds == (job.Speeds{}) { // else the jobs stay what they were for the others
		if err := r.gauge(ctx); err != nil {
			return err
		}
	}
	if err := r.calibrate(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.removeNodeProfile(ctx)) }()
	var all []measured
	for _, name := range r.Kinds {
		k := job.Of(name)
		m := measured{Kind: k}
		var account result.Load
		if m.known, account, err = r.account(ctx, k); err != nil {
			return fmt.Errorf("%s: %w", k.Name, err)
		}
		if m.found, err = r.measureKind(ctx, k); err != nil {
			return fmt.Errorf("%s: %w", k.Name, err)
		}
		r.Known.Learn(k.Name, m.found.inUse, account)
		if err := r.Known.Write(r.Out); err != nil {
			return err
		}
		all = append(all, m)
	}
	return r.showMeasured(all)
}

// account returns the vector of a kind by its own account of runs alone, and that of the
// run that computed for the middle time.
func (r *Run) account(ctx context.Context, k job.Kind) (known [2]float64, middle result.Load, err error) {
	r.Log.Step("%s: %d× alone", k.Name, r.Repeat)
	var loadings [2][]float64
	var all []result.Load
	for range r.Repeat {
		loads, err := r.RunJobs(ctx, r.Known.Speeds, []job.Job{{Kind: k, Seconds: r.Seconds}}, start.First)
		if err != nil {
			return known, middle, err
		}
		all = append(all, loads[0])
		for i, loading := range job.Vector(loads[0], r.Device.Service) {
			loadings[i] = append(loadings[i], loading)
		}
	}
	for i := range known {
		known[i] = job.Median(loadings[i])
	}
	slices.SortFunc(all, func(a, b result.Load) int { return cmp.Compare(a.CPUNanos, b.CPUNanos) })
	return known, all[len(all)/2], nil
}

// showMeasured prints the table and draws the chart.
func (r *Run) showMeasured(all []measured) error {
	t := text.NewTable(text.Left("JOB"), text.Left("RESOURCE"), text.Right("KNOWN"), text.Right("LOADING"), text.Right("±"), text.Right("OFF"),
		text.Right("PRESSURE"), text.Right("±"), text.Right("SENSITIVITY"), text.Right("NEUTRAL"), text.Right("ROUNDS"))
	intervals := chart.Intervals{
		Title: "Loading vectors that the operator measured on pods of known vectors", Quantity: "measured − known loading", Zero: "as known", Confidence: 0.95,
	}
	worst := 0.0
	for i := range all {
		worst = max(worst, all[i].addTo(t, &intervals, r.Device))
	}
	fmt.Println()
	if err := t.Write(os.Stdout); err != nil {
		return err
	}
	fmt.Printf("KNOWN is a job's own account of runs alone: when it computed, and what the %[1]s did for it.\nThe %[1]s serves %[2]d at once. The loading is off by %.3[3]f at most; the bound is 0.03.\n",
		r.Device.Resource(), r.Known.IOServers, worst)
	return report.WriteCharts(intervals, filepath.Join(r.Out, "measured"))
}

// addTo adds a row and an estimate per resource, and returns how far off the loading is.
func (m *measured) addTo(t *text.Table, intervals *chart.Intervals, io job.Device) (worst float64) {
	for i, resource := range io.Resources() {
		c, ok := m.found.components[resource]
		if !ok {
			continue
		}
		off := c.loading - m.known[i]
		worst = max(worst, math.Abs(off))
		t.Add(m.Name, resource, report.Decimals(m.known[i]), report.Decimals(c.loading), report.Decimals(c.loadingError), report.Signed(off),
			report.Decimals(c.pressure), report.Decimals(c.pressureError), report.Decimals(c.sensitivity),
			text.Seconds(m.found.neutral, 2), fmt.Sprint(m.found.rounds))
		intervals.Estimates = append(intervals.Estimates, chart.Estimate{
			Name: m.Name + ", " + resource, Value: off, Low: off - c.loadingError, High: off + c.loadingError,
		})
	}
	return worst
}

// gauge finds how fast work goes on a node without other jobs, so that the jobs can
// be given the same amount of work every time.
func (r *Run) gauge(ctx context.Context) error {
	r.Log.Step("finding how fast node %s is", start.First)
	for _, g := range []struct {
		job  job.Standard
		into *float64
	}{{job.CPU, &r.Known.Speeds.CPU}, {r.Device.Job, &r.Known.Speeds.IO}} {
		run, err := r.runProbe(ctx, g.job)
		if err != nil {
			return err
		}
		from, to := run.Series.Span()
		rate, ok := run.Series.Rate(from, to)
		if !ok {
			return fmt.Errorf("the probe %s ran too short a time to show how fast it is", g.job)
		}
		*g.into = rate
	}
	const files = 500
	r.Known.Speeds.Files = files // so that a second is as many
	if r.Device.Job != job.Network {
		return nil
	}
	loads, err := r.RunJobs(ctx, r.Known.Speeds, []job.Job{{Kind: job.Of("filecomp"), Seconds: 1}}, start.First)
	if err != nil {
		return err
	}
	r.Known.Speeds.Files = files / job.Elapsed(loads[0])
	return nil
}

// runProbe runs a standard job alone.
func (r *Run) runProbe(ctx context.Context, j job.Standard) (result.Run, error) {
	command := append([]string{"loadline-probe", "run", "--job", string(j), "--duration", "4s"}, r.Device.Flags()...)
	messages, err := r.RunPods(ctx, []*corev1.Pod{start.Placed("gauge", start.First, "gauge", command)})
	if err != nil {
		return result.Run{}, err
	}
	return result.ParseRun(messages[0])
}
