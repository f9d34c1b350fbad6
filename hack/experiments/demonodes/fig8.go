package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"loadline.dev/loadline/hack/experiments/job"
	"loadline.dev/loadline/hack/experiments/measure"
	"loadline.dev/loadline/hack/experiments/report"
	"loadline.dev/loadline/hack/experiments/start"
	"loadline.dev/loadline/pkg/probe/result"
	"loadline.dev/loadline/pkg/report/chart"
	"loadline.dev/loadline/pkg/text"
)

// fig8 has the paper's four jobs placed on two nodes in several ways.
func (s *session) fig8(ctx context.Context) (err error) {
	if err := s.known.Require(s.io, "cpu"); err != nil {
		return err
	}
	s.assumeDevice()
	fmt.Printf("\n3. The example of the paper (Table 3, Fig. 8) on nodes %s and %s, its times divided by %.4g\n\n", start.First, start.Second, s.scale)
	if err := s.hyperthreads(ctx); err != nil {
		return err
	}
	alone, err := s.aloneOnBoth(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.removeProfiles(ctx)) }()
	if err := s.declareProfiles(ctx); err != nil {
		return err
	}
	const least = 3
	repeat := max(least, s.repeat)
	if s.quick {
		repeat = 1
	}
	executions := make([][]execution, len(arrangements()))
	for r := range repeat {
		for i, a := range arrangements() {
			s.log.Step("%s, %d of %d", a.name, r+1, repeat)
			e, err := s.execute(ctx, a, alone)
			if err != nil {
				return fmt.Errorf("%s: %w", a.name, err)
			}
			executions[i] = append(executions[i], e)
		}
	}
	return s.showFig8(executions)
}

// assumeDevice takes the vector of the job at the device to be what it is made to be, if
// that was not measured.
func (s *session) assumeDevice() {
	if len(s.known.Vectors["io"]) == 0 {
		s.known.Vectors["io"] = []measure.Component{{Resource: s.Device.Resource(), Loading: 1, Pressure: 1}}
		fmt.Println("The job io was not measured: its vector is taken to be (0, 1).")
	}
}

// hyperthreads says how much the two nodes slow each other down, which share a memory
// and maybe a physical core.
func (s *session) hyperthreads(ctx context.Context) error {
	s.log.Step("whether the cores of the nodes slow each other down")
	j := job.Job{Kind: job.Of("cpu"), Seconds: s.seconds}
	var slower []float64
	for range s.repeat {
		alone, err := s.RunJobs(ctx, s.known.Speeds, []job.Job{j}, start.First)
		if err != nil {
			return err
		}
		both, err := s.RunJobs(ctx, s.known.Speeds, []job.Job{j, j}, start.First, start.Second)
		if err != nil {
			return err
		}
		slower = append(slower, job.Elapsed(both[0])/job.Elapsed(alone[0]))
	}
	fmt.Printf("A CPU job on %s takes %.3f times as long when another one runs on %s, on a core of its own:\nwhat the cores share (a physical core, say) is not in the predictions.\n\n",
		start.First, job.Median(slower), start.Second)
	return nil
}

// aloneOnBoth returns what each kind of the paper's jobs takes alone, by node.
func (s *session) aloneOnBoth(ctx context.Context) (map[string]map[string]result.Load, error) {
	alone := map[string]map[string]result.Load{}
	for _, node := range []string{start.First, start.Second} {
		alone[node] = map[string]result.Load{}
		for _, name := range paperKinds() {
			s.log.Step("%s alone on %s", name, node)
			l, err := s.RunJobs(ctx, s.known.Speeds, []job.Job{{Kind: job.Of(name), Seconds: s.seconds}}, node)
			if err != nil {
				return nil, err
			}
			alone[node][name] = l[0]
		}
	}
	return alone, nil
}

// showFig8 prints the table and draws the chart.
func (s *session) showFig8(executions [][]execution) error {
	t := text.NewTable(text.Left("SCHEDULE"), text.Left(strings.ToUpper(start.First)), text.Left(strings.ToUpper(start.Second)),
		text.Right("MAKESPAN"), text.Right("FROM"), text.Right("TO"), text.Right("PREDICTED"), text.Right("RUNS"))
	chart := chart.Timeline{Title: "The four jobs of Fig. 8 on two real nodes"}
	spans := make([]float64, len(executions))
	for i, a := range arrangements() {
		var measured, predicted []float64
		for _, e := range executions[i] {
			p, err := e.predicted(s.known.Servers())
			if err != nil {
				return err
			}
			measured, predicted = append(measured, e.makespan()), append(predicted, p)
		}
		spans[i] = job.Median(measured)
		typical := middle(executions[i])
		t.Add(a.name, strings.Join(typical.on(start.First), ", "), strings.Join(typical.on(start.Second), ", "), text.Seconds(spans[i], 2),
			text.Seconds(slices.Min(measured), 2), text.Seconds(slices.Max(measured), 2), text.Seconds(job.Median(predicted), 2), fmt.Sprint(len(measured)))
		chart.Schedules = append(chart.Schedules, typical.schedule(a.name))
	}
	if err := t.Write(os.Stdout); err != nil {
		return err
	}
	fmt.Printf("The run of the median makespan is shown. Loadline's ends %s than kube-scheduler's,\nand min p'·p̄ %s than the list scheduler (20.5%% earlier in the paper; 23.9%% by its model).\n",
		report.Earlier(spans[3], spans[2]), report.Earlier(spans[1], spans[0]))
	return report.WriteCharts(chart, filepath.Join(s.out, "fig8"))
}

// schedule returns the execution as a chart shows it.
func (e execution) schedule(name string) chart.Schedule {
	begin := e.jobs[0].Start
	for _, j := range e.jobs {
		begin = min(begin, j.Start)
	}
	schedule := chart.Schedule{Name: name}
	for _, node := range []string{start.First, start.Second} {
		for i, p := range paperJobs(1) {
			if e.nodes[i] == node {
				j := e.jobs[i]
				schedule.Bars = append(schedule.Bars, chart.Bar{
					Machine: node, Job: p.name, StartSeconds: j.Start - begin, EndSeconds: j.Start - begin + j.Elapsed,
				})
			}
		}
	}
	return schedule
}
