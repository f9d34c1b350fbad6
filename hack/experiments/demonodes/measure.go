package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"loadline.dev/loadline/pkg/probe/result"
	"loadline.dev/loadline/pkg/report/chart"
	"loadline.dev/loadline/pkg/text"
)

// measured is what is known of a kind, and what the operator found.
type measured struct {
	kind
	known [2]float64 // of the resources, by the job's own account of runs alone
	found vectorFound
}

// measure has the operator measure jobs whose vectors are known.
func (s *session) measure(ctx context.Context) (err error) {
	fmt.Printf("1. Jobs of known loading vectors, measured on node %s\n\n", first)
	if s.known.IOJob != s.io || len(s.kinds) == len(kindNames()) {
		*s.known = findings{IOJob: s.io}
	}
	if s.known.Speeds == (speeds{}) { // else the jobs stay what they were for the others
		if err := s.gauge(ctx); err != nil {
			return err
		}
	}
	if err := s.twoProbes(ctx); err != nil {
		return err
	}
	if err := s.calibrate(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.removeNodeProfile(ctx)) }()
	var all []measured
	for _, name := range s.kinds {
		k := kindOf(name)
		m := measured{kind: k}
		var account result.Load
		if m.known, account, err = s.account(ctx, k); err != nil {
			return fmt.Errorf("%s: %w", k.name, err)
		}
		if m.found, err = s.measureKind(ctx, k); err != nil {
			return fmt.Errorf("%s: %w", k.name, err)
		}
		s.known.learn(k.name, m.found.inUse, account)
		if err := s.known.write(s.out); err != nil {
			return err
		}
		all = append(all, m)
	}
	return s.showMeasured(all)
}

// account returns the vector of a kind by its own account of runs alone, and that of the
// run that computed for the middle time.
func (s *session) account(ctx context.Context, k kind) (known [2]float64, middle result.Load, err error) {
	s.log.step("%s: %d× alone", k.name, s.repeat)
	var told [2][]float64
	var all []result.Load
	for range s.repeat {
		loads, err := s.runJobs(ctx, []job{{k, s.seconds, 0}}, first)
		if err != nil {
			return known, middle, err
		}
		all = append(all, loads[0])
		for i, loading := range vectorOf(loads[0], s.device.service) {
			told[i] = append(told[i], loading)
		}
	}
	for i := range known {
		known[i] = median(told[i])
	}
	slices.SortFunc(all, func(a, b result.Load) int { return cmp.Compare(a.CPUNanos, b.CPUNanos) })
	return known, all[len(all)/2], nil
}

// showMeasured prints the table and draws the chart.
func (s *session) showMeasured(all []measured) error {
	t := text.NewTable(text.Left("JOB"), text.Left("RESOURCE"), text.Right("KNOWN"), text.Right("LOADING"), text.Right("±"), text.Right("OFF"),
		text.Right("PRESSURE"), text.Right("±"), text.Right("SENSITIVITY"), text.Right("NEUTRAL"), text.Right("ROUNDS"))
	intervals := chart.Intervals{
		Title: "Loading vectors that the operator measured on pods of known vectors", Quantity: "measured − known loading", Zero: "as known", Confidence: 0.95,
	}
	worst := 0.0
	for i := range all {
		worst = max(worst, all[i].addTo(t, &intervals, s.device))
	}
	fmt.Println()
	if err := t.Write(os.Stdout); err != nil {
		return err
	}
	fmt.Printf("KNOWN is a job's own account of runs alone: when it computed, and what the %[1]s did for it.\nThe %[1]s serves %[2]d at once. The loading is off by %.3[3]f at most; the bound is 0.03.\n",
		s.device.resource(), s.known.IOServers, worst)
	return writeCharts(intervals, filepath.Join(s.out, "measured"))
}

// addTo adds a row and an estimate per resource, and returns how far off the loading is.
func (m *measured) addTo(t *text.Table, intervals *chart.Intervals, io device) (worst float64) {
	for i, resource := range io.resources() {
		c, ok := m.found.components[resource]
		if !ok {
			continue
		}
		off := c.loading - m.known[i]
		worst = max(worst, abs(off))
		t.Add(m.name, resource, decimals(m.known[i]), decimals(c.loading), decimals(c.loadingError), signed(off),
			decimals(c.pressure), decimals(c.pressureError), decimals(c.sensitivity),
			text.Seconds(m.found.neutral, 2), fmt.Sprint(m.found.rounds))
		intervals.Estimates = append(intervals.Estimates, chart.Estimate{
			Name: m.name + ", " + resource, Value: off, Low: off - c.loadingError, High: off + c.loadingError,
		})
	}
	return worst
}

// gauge finds how fast work goes on a node without other jobs, so that the jobs can
// be given the same amount of work every time.
func (s *session) gauge(ctx context.Context) error {
	s.log.step("finding how fast node %s is", first)
	for _, g := range []struct {
		job  standard
		into *float64
	}{{cpu, &s.known.Speeds.CPU}, {s.io, &s.known.Speeds.IO}} {
		run, err := s.runProbe(ctx, g.job)
		if err != nil {
			return err
		}
		from, to := run.Series.Span()
		rate, ok := run.Series.Rate(from, to)
		if !ok {
			return fmt.Errorf("the probe %s ran too short a time to tell how fast it is", g.job)
		}
		*g.into = rate
	}
	const files = 500
	load, err := s.runFilecomp(ctx, files)
	if err != nil {
		return err
	}
	s.known.Speeds.Files = files / elapsed(load)
	return nil
}

// runProbe runs a standard job alone.
func (s *session) runProbe(ctx context.Context, j standard) (result.Run, error) {
	messages, err := s.runPods(ctx, placedProbes(s.device, probePod{"gauge", j, "4s"}))
	if err != nil {
		return result.Run{}, err
	}
	return result.ParseRun(messages[0])
}

func (s *session) runFilecomp(ctx context.Context, files float64) (result.Load, error) {
	s.known.Speeds.Files = files // so that a second is as many
	loads, err := s.runJobs(ctx, []job{{kindOf("filecomp"), 1, 0}}, first)
	if err != nil {
		return result.Load{}, err
	}
	return loads[0], nil
}
