package compare

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"loadline.dev/loadline/hack/experiments/job"
	"loadline.dev/loadline/hack/experiments/measure"
	"loadline.dev/loadline/hack/experiments/report"
	"loadline.dev/loadline/pkg/probe/result"
	"loadline.dev/loadline/pkg/report/chart"
	"loadline.dev/loadline/pkg/text"
)

// Mix is jobs that run on one node together, by the names of their kinds.
type Mix []string

// String writes the mix as people say it: "cpu, 2× cpu-50".
func (m Mix) String() string {
	var parts []string
	for i, name := range m {
		if slices.Index(m, name) < i {
			continue
		}
		copies := 0
		for _, other := range m {
			if other == name {
				copies++
			}
		}
		if copies > 1 {
			name = fmt.Sprintf("%d× %s", copies, name)
		}
		parts = append(parts, name)
	}
	return strings.Join(parts, ", ")
}

// Kinds returns the kinds in some mixes, each once, in the order of their names.
func Kinds(mixes ...Mix) []string {
	names := slices.Sorted(slices.Values(slices.Concat(mixes...)))
	return slices.Compact(names)
}

// Together is a mix that ran, and what its kinds reported of runs alone before and after it.
type Together struct {
	Mix    Mix                    `json:"mix"`
	Loads  []result.Load          `json:"loads"`
	Before map[string]result.Load `json:"before"`
	After  map[string]result.Load `json:"after"`
}

// compared is a pod of a mix: medians over the repetitions.
type compared struct {
	mix       Mix
	name      string // its kind
	measured  float64
	predicted []float64 // by each of the predictors
}

// Mixes compares mixes that ran, on nodes whose jobs were measured, and leaves a chart in a folder.
func Mixes(ran []Together, known *measure.Findings, out string) error {
	pods, err := compareAll(ran, known)
	if err != nil {
		return err
	}
	if len(pods) == 0 {
		return errors.New("no mix ran")
	}
	return showMixes(pods, out)
}

// compareAll returns the medians of the pods of each mix, in the order of the mixes.
func compareAll(all []Together, known *measure.Findings) (pods []compared, err error) {
	var order []string
	repetitions := map[string][][]compared{}
	for i := range all {
		once, err := compareOne(&all[i], known)
		name := all[i].Mix.String()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
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

// compareOne returns the measured and the predicted dilation of each pod of a mix. What a job takes alone is the mean of
// before and after the mix, on processors as fast as in the mix, and so are the vectors.
func compareOne(t *Together, known *measure.Findings) ([]compared, error) {
	jobs, pods := make([]Ran, len(t.Mix)), make([]compared, len(t.Mix))
	for i, l := range t.Loads {
		name := t.Mix[i]
		before, after := t.Before[name], t.After[name]
		jobs[i] = Ran{
			Start: float64(l.Begin-t.Loads[0].Begin) / 1e9, Elapsed: job.Elapsed(l), Vector: known.VectorLike(l, name),
			Neutral: math.Sqrt(job.Neutral(l, before)*job.Neutral(l, after)) + job.SlowerProcessors(l, before, after),
		}
		pods[i] = compared{mix: t.Mix, name: name, measured: jobs[i].Dilation()}
	}
	for _, p := range predictors() {
		dilations, err := p.predict(jobs, known.Servers())
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
		pods[i].measured = job.Median(measured)
		for k := range predicted {
			pods[i].predicted[k] = job.Median(predicted[k])
		}
	}
	return pods
}

// inaccuracy returns the mean and the worst error of a predictor, as fractions of what
// was measured.
func inaccuracy(pods []compared, predictor int) (mean, worst float64) {
	for _, p := range pods {
		off := math.Abs(p.predicted[predictor]/p.measured - 1)
		mean += off / float64(len(pods))
		worst = max(worst, off)
	}
	return mean, worst
}

// showMixes prints the tables and draws the chart.
func showMixes(pods []compared, out string) error {
	columns := []text.Column{text.Left("MIX"), text.Left("POD"), text.Right("MEASURED")}
	dilations := chart.Scatter{Title: "Dilations of pods that share a node", Quantity: "dilation", Unit: "×"}
	summary := text.NewTable(text.Left("PREDICTOR"), text.Right("MEAN ERROR"), text.Right("WORST"))
	for i, p := range predictors() {
		columns = append(columns, text.Right(strings.ToUpper(p.name)), text.Right("OFF"))
		series := chart.Series{Name: p.name}
		for _, pod := range pods {
			series.Pairs = append(series.Pairs, chart.Pair{Measured: pod.measured, Predicted: pod.predicted[i]})
		}
		dilations.Series = append(dilations.Series, series)
		mean, worst := inaccuracy(pods, i)
		summary.Add(p.name, text.Percent(mean), text.Percent(worst))
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
		"Neutral times and vectors are those of processors as fast as in the mix, by the processor time of the same work.\n", len(pods))
	return report.WriteCharts(dilations, filepath.Join(out, "mixes"))
}
