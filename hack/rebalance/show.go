package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"loadline.dev/loadline/hack/comparison"
	"loadline.dev/loadline/pkg/evaluate/observed"
	"loadline.dev/loadline/pkg/report/chart"
	"loadline.dev/loadline/pkg/text"
)

// row is one remedy in a comparison: means over seeds, with intervals.
type row struct {
	Remedy string `json:"remedy"`
	// Excess is that of all pods on average over the hours, and Removed the part of the mean excess with no remedy which is gone, 0 if there
	// is none; by the model, and by the simulation in the hours that it judged. The part is one of all seeds together: there are seeds
	// with next to no excess.
	Excess           comparison.Interval `json:"excess"`
	Removed          float64             `json:"removed"`
	SimulatedExcess  comparison.Interval `json:"simulatedExcess"`
	SimulatedRemoved float64             `json:"simulatedRemoved"`
	SimulatedHours   int                 `json:"simulatedHours"`
	// Above is how many pods are above the load line, on average over the hours.
	Above comparison.Interval `json:"podsAbove"`
	// Changes and Disrupted are those of all hours together, and Waiting how many pods are on no node, on average over the hours.
	Changes   comparison.Interval `json:"changes"`
	Disrupted comparison.Interval `json:"podsDisrupted"`
	Waiting   comparison.Interval `json:"waiting"`
	// Seconds is how long the remedy took to decide, on average over the hours.
	Seconds comparison.Interval `json:"secondsAnHour"`
}

// summarize adds up the remedies of which each has as many seeds as the first, at least one.
func summarize(all []runs) []row {
	var rows []row
	for _, r := range all {
		if len(r.Of) == 0 || len(r.Of) < len(all[0].Of) {
			continue // the comparison was ended before
		}
		over := func(of func(o *outcome) float64) comparison.Interval {
			values := make([]float64, len(r.Of))
			for i, o := range r.Of {
				values[i] = of(o)
			}
			return comparison.IntervalOf(values)
		}
		model := func(o *outcome) float64 { return o.mean(func(m *moment) float64 { return m.Model.Excess }) }
		rows = append(rows, row{
			Remedy: r.Remedy, Excess: over(model), SimulatedExcess: over((*outcome).simulated),
			Above:     over(func(o *outcome) float64 { return o.mean(func(m *moment) float64 { return m.Model.Above }) }),
			Changes:   over(func(o *outcome) float64 { return o.total(func(m *moment) int { return m.Changes }) }),
			Disrupted: over(func(o *outcome) float64 { return o.total(func(m *moment) int { return m.Disrupted }) }),
			Waiting:   over(func(o *outcome) float64 { return o.mean(func(m *moment) float64 { return float64(m.Waiting) }) }),
			Seconds:   over(func(o *outcome) float64 { return o.Seconds / float64(len(o.Hours)) }),

			SimulatedHours: r.Of[0].simulatedHours(),
		})
		last := &rows[len(rows)-1]
		last.Removed = removed(rows[0].Excess.Mean, last.Excess.Mean)
		last.SimulatedRemoved = removed(rows[0].SimulatedExcess.Mean, last.SimulatedExcess.Mean)
	}
	return rows
}

// removed returns the part of an excess that is gone, given what is left.
func removed(excess, left float64) float64 {
	if excess <= 0 {
		return 0
	}
	return 1 - left/excess
}

// mean returns the mean of something over the hours.
func (o *outcome) mean(of func(m *moment) float64) float64 {
	sum := 0.0
	for i := range o.Hours {
		sum += of(&o.Hours[i])
	}
	return sum / float64(len(o.Hours))
}

// total returns the sum of something over the hours.
func (o *outcome) total(of func(m *moment) int) float64 {
	sum := 0
	for i := range o.Hours {
		sum += of(&o.Hours[i])
	}
	return float64(sum)
}

// simulated returns the mean excess by the simulation over the hours that it judged, 0 if there are none.
func (o *outcome) simulated() float64 {
	sum := 0.0
	for i := range o.Hours {
		if v := o.Hours[i].Simulation; v != nil {
			sum += v.Excess
		}
	}
	return sum / float64(max(1, o.simulatedHours()))
}

// simulatedHours returns how many hours the simulation judged.
func (o *outcome) simulatedHours() (n int) {
	for i := range o.Hours {
		if o.Hours[i].Simulation != nil {
			n++
		}
	}
	return n
}

// writeTable prints a row for each remedy.
func writeTable(w io.Writer, rows []row) error {
	table := text.NewTable(text.Left("REMEDY"), text.Right("EXCESS"), text.Right("REMOVED"), text.Right("SIMULATED"), text.Right("REMOVED"),
		text.Right(fmt.Sprintf("PODS ABOVE %v×", observed.DefaultAbove)), text.Right("CHANGES"), text.Right("PODS DISRUPTED"), text.Right("WAITING"), text.Right("TIME AN HOUR"))
	percent := func(part float64) string { return text.Decimal(100*part, 0) + "%" }
	for i := range rows {
		r := &rows[i]
		removed, simulated, simulatedRemoved := text.Absent, text.Absent, text.Absent
		if i > 0 {
			removed = percent(r.Removed)
		}
		if r.SimulatedHours > 0 {
			simulated = r.SimulatedExcess.Text(2, "")
			if i > 0 {
				simulatedRemoved = percent(r.SimulatedRemoved)
			}
		}
		table.Add(r.Remedy, r.Excess.Text(2, ""), removed, simulated, simulatedRemoved, r.Above.Text(1, ""),
			r.Changes.Text(0, ""), r.Disrupted.Text(0, ""), r.Waiting.Text(1, ""), r.Seconds.Text(2, " s"))
	}
	return table.Write(w)
}

// write writes all that is known in JSON.
func (c *comparer) write(to io.Writer) error {
	encoder := json.NewEncoder(to)
	encoder.SetIndent("", "  ")
	return encoder.Encode(map[string]any{
		"nodes": c.Nodes, "requested": c.Requested, "use": c.Use, "profileError": c.ProfileError, "hours": c.hours, "precision": c.precision,
		"remedies": summarize(c.runs), "runs": c.runs,
	})
}

// save writes it to a file.
func (c *comparer) save() (err error) {
	if err := os.MkdirAll(c.out, 0o750); err != nil {
		return err
	}
	file, err := os.Create(filepath.Join(c.out, "rebalance.json"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return c.write(file)
}

// show prints the answer and draws the chart.
func (c *comparer) show(w io.Writer) error {
	rows := summarize(c.runs)
	if len(rows) == 0 {
		return nil
	}
	if c.output == "json" {
		return c.write(w)
	}
	if err := writeTable(w, rows); err != nil {
		return err
	}
	path := filepath.Join(c.out, "excess.svg")
	if err := chart.WriteFile(path, c.chart()); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w, "Chart:", path)
	return err
}

// charted is the largest number of remedies in a chart: more cannot be distinguished.
const charted = 8

// chart returns the excess in the course of the day of seed 1, of the first remedies.
func (c *comparer) chart() chart.Chart {
	d := chart.Comparison{Title: "How far pods are above the load line, in all", Quantity: "excess", CasesAre: "hour"}
	for hour := range c.hours {
		d.Cases = append(d.Cases, strconv.Itoa(hour))
	}
	for _, r := range c.runs[:min(charted, len(c.runs))] {
		if len(r.Of) == 0 {
			continue
		}
		one := chart.Contender{Name: r.Remedy}
		for _, m := range r.Of[0].Hours {
			one.Values = append(one.Values, m.Model.Excess)
		}
		d.Contenders = append(d.Contenders, one)
	}
	return d
}
