package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

	"loadline.dev/loadline/pkg/report/chart"
	"loadline.dev/loadline/pkg/text"
)

// compared is a pod of a mix: medians over the repetitions.
type compared struct {
	mix       mix
	name      string // its kind
	measured  float64
	predicted []float64 // by each of the predictors
}

// compare compares how slow the jobs were that ran together with what is predicted from
// their measured vectors.
func (s *session) compare() error {
	var all []together
	if err := readJSON(mixesFile(s.out), &all); err != nil {
		return fmt.Errorf("reading which mixes ran: %w (run the part %s)", err, partMixes)
	}
	for i := range all {
		if err := s.known.require(s.io, kindsOf(all[i].Mix)...); err != nil {
			return err
		}
	}
	pods, err := s.known.compareAll(all, false)
	if err != nil {
		return err
	}
	byClock, err := s.known.compareAll(all, true)
	if err != nil {
		return err
	}
	return s.showMixes(pods, byClock)
}

// compareAll returns the medians of the pods of each mix, in the order of the mixes.
func (f *findings) compareAll(all []together, byClock bool) (pods []compared, err error) {
	var order []string
	repetitions := map[string][][]compared{}
	for i := range all {
		t := &all[i]
		once, err := f.compare(t, byClock)
		if err != nil {
			return nil, fmt.Errorf("%v: %w", t.Mix, err)
		}
		name := t.Mix.String()
		if repetitions[name] == nil {
			order = append(order, name)
		}
		repetitions[name] = append(repetitions[name], once)
	}
	for _, name := range order {
		pods = append(pods, medians(repetitions[name])...)
	}
	return pods, nil
}

// compare returns the measured and the predicted dilation of each pod of a mix. What a
// job takes alone is the mean of before and after the mix. Unless it goes by the clock,
// that is on processors as fast as in the mix, and so are the vectors.
func (f *findings) compare(t *together, byClock bool) ([]compared, error) {
	jobs, pods := make([]ran, len(t.Mix)), make([]compared, len(t.Mix))
	for i, l := range t.Loads {
		name := t.Mix[i]
		before, after := t.Before[name], t.After[name]
		jobs[i] = ran{
			start: float64(l.Begin-t.Loads[0].Begin) / 1e9, elapsed: elapsed(l), vector: f.vector(name),
			neutral: math.Sqrt(neutralOf(l, before) * neutralOf(l, after)),
		}
		if !byClock {
			jobs[i].vector = f.vectorLike(l, name)
			jobs[i].neutral += slowerProcessors(l, before, after)
		}
		pods[i] = compared{mix: t.Mix, name: name, measured: jobs[i].dilation()}
	}
	for _, p := range predictors() {
		dilations, err := p.predict(jobs, f.servers())
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
func (s *session) showMixes(pods, byClock []compared) error {
	columns := []text.Column{text.Left("MIX"), text.Left("POD"), text.Right("MEASURED")}
	dilations := chart.Scatter{Title: "Dilations of pods that share a node", Quantity: "dilation", Unit: "×"}
	summary := text.NewTable(text.Left("PREDICTOR"), text.Right("MEAN ERROR"), text.Right("WORST"), text.Right("BY THE CLOCK"), text.Right("WORST"))
	for i, p := range predictors() {
		columns = append(columns, text.Right(strings.ToUpper(p.name)), text.Right("OFF"))
		series := chart.Series{Name: p.name}
		for _, pod := range pods {
			series.Pairs = append(series.Pairs, chart.Pair{Measured: pod.measured, Predicted: pod.predicted[i]})
		}
		dilations.Series = append(dilations.Series, series)
		mean, worst := inaccuracy(pods, i)
		clockMean, clockWorst := inaccuracy(byClock, i)
		summary.Add(p.name, text.Percent(mean), text.Percent(worst), text.Percent(clockMean), text.Percent(clockWorst))
	}
	t := text.NewTable(columns...)
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
	fmt.Printf("%d pods. Loadline's bounds: mean 5%%, worst 12%%. Predicted from measured vectors and the times at which the pods started.\n"+
		"Neutral times and vectors are those of processors as fast as in the mix, by the processor time of the same work; by the clock they are not.\n", len(pods))
	return writeCharts(dilations, filepath.Join(s.out, "mixes"))
}
