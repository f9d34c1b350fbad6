package comparison

import (
	"fmt"
	"io"
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"loadline.dev/loadline/pkg/report/chart"
	"loadline.dev/loadline/pkg/text"
)

// Runs are the figures of one scheduler, a run for each seed.
type Runs struct {
	Name string    `json:"scheduler"`
	Of   []Figures `json:"bySeed"`
}

// Interval is a mean over seeds with the half width of its 95 % confidence interval by Student's t, which is 0 for one seed.
type Interval struct {
	Mean float64 `json:"mean"`
	Half float64 `json:"half"`
}

// Row is one scheduler in a comparison.
type Row struct {
	Scheduler string   `json:"scheduler"`
	Seeds     int      `json:"seeds"`
	Placed    Interval `json:"placed"`
	Waiting   Interval `json:"waiting"`
	Nodes     Interval `json:"nodes"`
	// Simulated is what the simulation says, and Modelled what the model does.
	Simulated Judgement `json:"simulated"`
	Modelled  Judgement `json:"modelled"`
}

// Judgement is what a judge says of one scheduler.
type Judgement struct {
	Mean       Interval `json:"meanDilation"`
	P95        Interval `json:"p95Dilation"`
	Worst      Interval `json:"worstDilation"`
	Violations Interval `json:"violations"`
	// Saved is the part of the excess dilation of the first scheduler, λ − 1 on average, that this one saves, seed by
	// seed: 1 is all of it, below 0 is more excess.
	Saved Interval `json:"savedExcess"`
	// Error is the standard error of the mean dilation of one seed by the judge itself, 0 of the model. Intervals over seeds have it in them.
	Error float64 `json:"standardError"`
}

// Summarize adds up the runs of each scheduler; all have the same seeds, at least one, in the same order.
func Summarize(all []Runs) []Row {
	var rows []Row
	for _, r := range all {
		rows = append(rows, Row{
			Scheduler: r.Name,
			Seeds:     len(r.Of),
			Placed:    over(r.Of, func(f *Figures) float64 { return f.Placed }),
			Waiting:   over(r.Of, func(f *Figures) float64 { return f.Waiting }),
			Nodes:     over(r.Of, func(f *Figures) float64 { return f.Nodes }),
			Simulated: judgement(r.Of, all[0].Of, func(f *Figures) *Verdict { return &f.Simulated }),
			Modelled:  judgement(r.Of, all[0].Of, func(f *Figures) *Verdict { return &f.Modelled }),
		})
	}
	return rows
}

// judgement adds up what one judge says of runs, beside the first scheduler's runs of the same seeds.
func judgement(runs, first []Figures, by func(*Figures) *Verdict) Judgement {
	var parts []float64
	for i := range runs {
		parts = append(parts, saved(by(&runs[i]), by(&first[i])))
	}
	return Judgement{
		Mean:       over(runs, func(f *Figures) float64 { return by(f).Mean }),
		P95:        over(runs, func(f *Figures) float64 { return by(f).P95 }),
		Worst:      over(runs, func(f *Figures) float64 { return by(f).Worst }),
		Violations: over(runs, func(f *Figures) float64 { return by(f).Violations }),
		Saved:      IntervalOf(parts),
		Error:      over(runs, func(f *Figures) float64 { return by(f).Error }).Mean,
	}
}

// over returns the mean of some figure of runs, and its interval.
func over(runs []Figures, of func(*Figures) float64) Interval {
	values := make([]float64, len(runs))
	for i := range runs {
		values[i] = of(&runs[i])
	}
	return IntervalOf(values)
}

// saved returns the part of the excess dilation of another run that a run saves, 0 where there is none to save.
func saved(run, other *Verdict) float64 {
	if other.Mean <= 1 {
		return 0
	}
	return 1 - (run.Mean-1)/(other.Mean-1)
}

// IntervalOf returns the mean of values, at least one, and its interval.
func IntervalOf(values []float64) Interval {
	n := float64(len(values))
	if n < 2 {
		return Interval{Mean: values[0]}
	}
	mean, deviation := stat.MeanStdDev(values, nil)
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}.Quantile(0.975)
	return Interval{mean, t * deviation / math.Sqrt(n)}
}

// Text writes an interval with a number of decimals and a unit.
func (i Interval) Text(decimals int, unit string) string {
	if i.Half == 0 {
		return text.Decimal(i.Mean, decimals) + unit
	}
	return text.Decimal(i.Mean, decimals) + " ± " + text.Decimal(i.Half, decimals) + unit
}

// WriteTable prints two rows for each scheduler: what the simulation says, and what the model does.
func WriteTable(w io.Writer, rows []Row) error {
	table := text.NewTable(text.Left("SCHEDULER"), text.Right("PODS PLACED"), text.Right("WAITING"), text.Right("NODES IN USE"), text.Left("JUDGE"),
		text.Right("MEAN DILATION"), text.Right("P95"), text.Right("WORST"), text.Right("SLA VIOLATIONS"), text.Right("EXCESS SAVED"))
	for i := range rows {
		r := &rows[i]
		table.Add(append([]string{
			r.Scheduler, text.Count(int64(math.Round(r.Placed.Mean))), text.Value(r.Waiting.Mean), text.Value(r.Nodes.Mean), "simulation",
		}, r.Simulated.cells(i > 0)...)...)
		table.Add(append([]string{"", "", "", "", "model"}, r.Modelled.cells(i > 0)...)...)
	}
	return table.Write(w)
}

// cells returns those of a table, without what is saved of the first scheduler itself.
func (j *Judgement) cells(beside bool) []string {
	saved := text.Absent
	if beside {
		saved = Interval{100 * j.Saved.Mean, 100 * j.Saved.Half}.Text(0, "%")
	}
	return []string{j.Mean.Text(3, "×"), j.P95.Text(2, "×"), j.Worst.Text(2, "×"), j.Violations.Text(1, ""), saved}
}

// Chart returns the dilations of pods under each scheduler as a chart.
func Chart(samples []chart.Sample) chart.Chart {
	return chart.Distribution{Title: "How much slower pods run than alone", Quantity: "dilation", Unit: "×", Of: "pods", Samples: samples}
}

// Headline says in a line what changes from one scheduler to another, by the simulation.
func Headline(from, to *Row) string {
	before, after := &from.Simulated, &to.Simulated
	return fmt.Sprintf("From %s to %s: mean dilation %.2f× → %.2f×, worst %.2f× → %.2f×, SLA violations %.0f → %.0f of %s at any moment.",
		from.Scheduler, to.Scheduler, before.Mean.Mean, after.Mean.Mean, before.Worst.Mean, after.Worst.Mean,
		before.Violations.Mean, after.Violations.Mean, text.Counted(int(math.Round(to.Placed.Mean)), "pod"))
}
