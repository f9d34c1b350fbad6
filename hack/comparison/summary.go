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
	Name string
	Of   []Figures
}

// Interval is a mean over seeds with the half width of its 95 % confidence interval by Student's t, which is 0 for one seed.
type Interval struct {
	Mean float64 `json:"mean"`
	Half float64 `json:"half"`
}

// Row is one scheduler in a comparison.
type Row struct {
	Scheduler  string   `json:"scheduler"`
	Seeds      int      `json:"seeds"`
	Placed     Interval `json:"placed"`
	Waiting    Interval `json:"waiting"`
	Nodes      Interval `json:"nodes"`
	Mean       Interval `json:"meanDilation"`
	P95        Interval `json:"p95Dilation"`
	Worst      Interval `json:"worstDilation"`
	Violations Interval `json:"violations"`
	// Saved is the part of the excess dilation of the first scheduler, λ − 1 on average, that this one saves, seed by
	// seed: 1 is all of it, below 0 is more excess.
	Saved Interval `json:"savedExcess"`
}

// Summarize adds up the runs of each scheduler; all have the same seeds, at least one, in the same order.
func Summarize(all []Runs) []Row {
	var rows []Row
	for _, r := range all {
		over := func(of func(i int) float64) Interval {
			values := make([]float64, len(r.Of))
			for i := range values {
				values[i] = of(i)
			}
			return IntervalOf(values)
		}
		rows = append(rows, Row{
			Scheduler:  r.Name,
			Seeds:      len(r.Of),
			Placed:     over(func(i int) float64 { return r.Of[i].Placed }),
			Waiting:    over(func(i int) float64 { return r.Of[i].Waiting }),
			Nodes:      over(func(i int) float64 { return r.Of[i].Nodes }),
			Mean:       over(func(i int) float64 { return r.Of[i].Mean }),
			P95:        over(func(i int) float64 { return r.Of[i].P95 }),
			Worst:      over(func(i int) float64 { return r.Of[i].Worst }),
			Violations: over(func(i int) float64 { return r.Of[i].Violations }),
			Saved:      over(func(i int) float64 { return saved(&r.Of[i], &all[0].Of[i]) }),
		})
	}
	return rows
}

// saved returns the part of the excess dilation of another run that a run saves, 0 where there is none to save.
func saved(run, other *Figures) float64 {
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

// with writes an interval.
func (i Interval) with(decimals int, unit string) string {
	if i.Half == 0 {
		return text.Decimal(i.Mean, decimals) + unit
	}
	return text.Decimal(i.Mean, decimals) + " ± " + text.Decimal(i.Half, decimals) + unit
}

// WriteTable prints a row for each scheduler.
func WriteTable(w io.Writer, rows []Row) error {
	table := text.NewTable(text.Left("SCHEDULER"), text.Right("PODS PLACED"), text.Right("WAITING"), text.Right("NODES IN USE"),
		text.Right("MEAN DILATION"), text.Right("P95"), text.Right("WORST"), text.Right("SLA VIOLATIONS"), text.Right("EXCESS SAVED"))
	for i := range rows {
		r := &rows[i]
		saved := text.Absent
		if i > 0 {
			saved = Interval{100 * r.Saved.Mean, 100 * r.Saved.Half}.with(0, "%")
		}
		table.Add(r.Scheduler, text.Count(int64(math.Round(r.Placed.Mean))), text.Value(r.Waiting.Mean), text.Value(r.Nodes.Mean),
			r.Mean.with(3, "×"), r.P95.with(2, "×"), r.Worst.with(2, "×"), r.Violations.with(1, ""), saved)
	}
	return table.Write(w)
}

// Chart returns the dilations of pods under each scheduler as a chart.
func Chart(samples []chart.Sample) chart.Chart {
	return chart.Distribution{Title: "How much slower pods run than alone", Quantity: "dilation", Unit: "×", Of: "pods", Samples: samples}
}

// Headline says in a line what changes from one scheduler to another.
func Headline(from, to *Row) string {
	return fmt.Sprintf("From %s to %s: mean dilation %.2f× → %.2f×, worst %.2f× → %.2f×, SLA violations %.0f → %.0f of %s at any moment.",
		from.Scheduler, to.Scheduler, from.Mean.Mean, to.Mean.Mean, from.Worst.Mean, to.Worst.Mean,
		from.Violations.Mean, to.Violations.Mean, text.Counted(int(math.Round(to.Placed.Mean)), "pod"))
}
