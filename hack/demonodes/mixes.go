package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

	"loadline.dev/loadline/pkg/probe/report"
	show "loadline.dev/loadline/pkg/report"
)

// compared is a pod of a mix: medians over the repetitions.
type compared struct {
	mix       mix
	name      string // its kind
	measured  float64
	predicted []float64 // by each of the predictors
}

// mixes runs jobs together and compares how slow they are with what was predicted from
// their measured vectors.
func (s *session) mixes(ctx context.Context) error {
	all := allMixes()
	if s.quick {
		all = quickMixes()
	}
	if err := s.known.require(s.io, kindsOf(all...)...); err != nil {
		return err
	}
	fmt.Printf("\n2. %d co-locations on node %s, predicted and measured\n\n", len(all), first)
	samples := make([][][]compared, len(all)) // by mix and repetition
	for repetition := range s.repeat {
		told, err := s.runMixes(ctx, all, repetition)
		if err != nil {
			return err
		}
		for i := range all {
			samples[i] = append(samples[i], told[i])
		}
	}
	var pods []compared
	for _, repetitions := range samples {
		pods = append(pods, medians(repetitions)...)
	}
	return s.showMixes(pods)
}

// runMixes runs each mix once. Between two mixes all their kinds run alone: what a job
// takes alone is the mean of before and after the mix.
func (s *session) runMixes(ctx context.Context, all []mix, repetition int) ([][]compared, error) {
	before, err := s.alone(ctx, kindsOf(all[0]))
	if err != nil {
		return nil, err
	}
	told := make([][]compared, len(all))
	for i, m := range all {
		s.log.step("%d of %d, repetition %d of %d: %v", i+1, len(all), repetition+1, s.repeat, m)
		loads, err := s.runJobs(ctx, m.jobs(s.seconds, repetition), first)
		if err != nil {
			return nil, fmt.Errorf("%v: %w", m, err)
		}
		next := kindsOf(all[i:min(i+2, len(all))]...)
		after, err := s.alone(ctx, next)
		if err != nil {
			return nil, err
		}
		if told[i], err = s.compare(m, loads, before, after); err != nil {
			return nil, fmt.Errorf("%v: %w", m, err)
		}
		before = after
	}
	return told, nil
}

// alone runs kinds of jobs one after the other.
func (s *session) alone(ctx context.Context, names []string) (map[string]report.Load, error) {
	loads := map[string]report.Load{}
	for _, name := range names {
		s.log.step("%s alone", name)
		l, err := s.runJobs(ctx, []job{{kindOf(name), s.seconds, 0}}, first)
		if err != nil {
			return nil, fmt.Errorf("%s alone: %w", name, err)
		}
		loads[name] = l[0]
	}
	return loads, nil
}

// compare returns the measured and the predicted dilation of each pod of a mix.
func (s *session) compare(m mix, loads []report.Load, before, after map[string]report.Load) ([]compared, error) {
	jobs, pods := make([]ran, len(m)), make([]compared, len(m))
	for i, l := range loads {
		jobs[i] = ran{
			start: float64(l.Begin-loads[0].Begin) / 1e9, elapsed: elapsed(l), vector: s.known.vector(m[i]),
			neutral: math.Sqrt(neutralOf(l, before[m[i]]) * neutralOf(l, after[m[i]])),
		}
		pods[i] = compared{mix: m, name: m[i], measured: jobs[i].dilation()}
	}
	for _, p := range predictors() {
		dilations, err := p.predict(jobs, s.known.servers())
		if err != nil {
			return nil, err
		}
		for i := range pods {
			pods[i].predicted = append(pods[i].predicted, dilations[i])
		}
	}
	return pods, nil
}

// medians returns the pods of a mix with the medians of its repetitions.
func medians(repetitions [][]compared) []compared {
	pods := make([]compared, len(repetitions[0]))
	for i := range pods {
		first := repetitions[0][i]
		pods[i] = compared{mix: first.mix, name: first.name, predicted: make([]float64, len(first.predicted))}
		var measured []float64
		predicted := make([][]float64, len(first.predicted))
		for _, r := range repetitions {
			measured = append(measured, r[i].measured)
			for k, p := range r[i].predicted {
				predicted[k] = append(predicted[k], p)
			}
		}
		pods[i].measured = median(measured)
		for k := range predicted {
			pods[i].predicted[k] = median(predicted[k])
		}
	}
	return pods
}

// inaccuracy returns the mean and the worst error of a predictor, as fractions of what
// was measured.
func inaccuracy(pods []compared, predictor int) (mean, worst float64) {
	for _, p := range pods {
		off := abs(p.predicted[predictor]/p.measured - 1)
		mean += off / float64(len(pods))
		worst = max(worst, off)
	}
	return mean, worst
}

// showMixes prints the tables and draws the chart.
func (s *session) showMixes(pods []compared) error {
	columns := []show.Column{show.Left("MIX"), show.Left("POD"), show.Right("MEASURED")}
	chart := show.Scatter{Title: "Dilations of pods that share a node", Quantity: "dilation", Unit: "×"}
	summary := show.NewTable(show.Left("PREDICTOR"), show.Right("MEAN ERROR"), show.Right("WORST"))
	for i, p := range predictors() {
		columns = append(columns, show.Right(strings.ToUpper(p.name)), show.Right("OFF"))
		series := show.Series{Name: p.name}
		for _, pod := range pods {
			series.Pairs = append(series.Pairs, show.Pair{Measured: pod.measured, Predicted: pod.predicted[i]})
		}
		chart.Series = append(chart.Series, series)
		mean, worst := inaccuracy(pods, i)
		summary.Add(p.name, show.Percent(mean), show.Percent(worst))
	}
	t := show.NewTable(columns...)
	for _, pod := range pods {
		cells := []string{pod.mix.String(), pod.name, fmt.Sprintf("%.3f×", pod.measured)}
		for _, predicted := range pod.predicted {
			cells = append(cells, fmt.Sprintf("%.3f×", predicted), fmt.Sprintf("%+.1f%%", 100*(predicted/pod.measured-1)))
		}
		t.Add(cells...)
	}
	if err := t.Write(os.Stdout); err != nil {
		return err
	}
	fmt.Println()
	if err := summary.Write(os.Stdout); err != nil {
		return err
	}
	fmt.Printf("%d pods. Loadline's bounds: mean 5%%, worst 12%%. Predicted from measured vectors and the times at which the pods started.\n", len(pods))
	return writeCharts(chart, filepath.Join(s.out, "mixes"))
}
