package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"

	"loadline.dev/loadline/pkg/report/chart"
	"loadline.dev/loadline/pkg/text"
)

// write writes rows as a table, csv or json.
func write(w io.Writer, format string, rows []row) error {
	switch format {
	case "csv":
		return writeRows(w, rows)
	case "json":
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(rows)
	default:
		return table(rows).Write(w)
	}
}

func table(rows []row) *text.Table {
	t := text.NewTable(
		text.Left("SETTING"), text.Left("WORKLOAD"), text.Right("SHARE"), text.Right("BUSY"), text.Right("RUNS"), text.Right("STRETCH"),
		text.Right("MEASURED"), text.Right("SHARING"), text.Right("PER JOB"), text.Right("ORDERS"), text.Right("MODEL"),
		text.Right("MEASURED/SHARING"), text.Right("MEASURED/ORDERS"),
	)
	for _, r := range rows {
		t.Add(r.Setting, r.Workload, fmt.Sprint(r.Share), text.Percent(r.Utilization), fmt.Sprintf("%d of %d", r.Undisturbed, r.Runs), fmt.Sprintf("%.3f", r.Stretch),
			fmt.Sprintf("%.2f", r.Measured), fmt.Sprintf("%.2f", r.Sharing), fmt.Sprintf("%.2f", r.Discriminatory),
			fmt.Sprintf("%.2f", r.Orders), fmt.Sprintf("%.2f", r.Model), r.ToSharing.String(), r.ToOrders.String())
	}
	return t
}

// writeRows writes one line per workload of a setting.
func writeRows(w io.Writer, rows []row) error {
	lines := [][]string{{
		"setting", "workload", "share", "utilization", "undisturbed_runs", "runs", "stretch",
		"measured", "sharing", "discriminatory", "orders", "model",
		"measured_to_sharing", "measured_to_sharing_half", "measured_to_discriminatory", "measured_to_discriminatory_half",
		"measured_to_orders", "measured_to_orders_half",
	}}
	for _, r := range rows {
		lines = append(lines, slices.Concat(
			[]string{r.Setting, r.Workload, number(r.Share), number(r.Utilization), strconv.Itoa(r.Undisturbed), strconv.Itoa(r.Runs)},
			numbers(r.Stretch, r.Measured, r.Sharing, r.Discriminatory, r.Orders, r.Model),
			r.ToSharing.cells(), r.ToDiscriminatory.cells(), r.ToOrders.cells(),
		))
	}
	return csv.NewWriter(w).WriteAll(lines)
}

// writeRuns writes one line per workload of every run.
func writeRuns(w io.Writer, runs []aRun) error {
	lines := [][]string{{
		"setting", "seed", "workload", "control_before", "control_after", "stretch", "undisturbed",
		"measured", "sharing", "discriminatory", "orders",
	}}
	for _, r := range runs {
		for i, f := range r.factors {
			lines = append(lines, slices.Concat(
				[]string{r.setting, strconv.FormatUint(r.seed, 10), strconv.Itoa(i + 1)},
				numbers(r.before, r.after, r.stretch), []string{strconv.FormatBool(r.undisturbed)},
				numbers(f.measured, f.sharing, f.discriminatory, f.orders),
			))
		}
	}
	return csv.NewWriter(w).WriteAll(lines)
}

// cells are the mean and the half width, empty if there is none.
func (e estimate) cells() []string {
	if e.Half == nil {
		return []string{number(e.Mean), ""}
	}
	return numbers(e.Mean, *e.Half)
}

func numbers(values ...float64) []string {
	cells := make([]string, len(values))
	for i, v := range values {
		cells[i] = number(v)
	}
	return cells
}

func number(x float64) string {
	const digits = 5
	return strconv.FormatFloat(x, 'g', digits, 64)
}

// scatter shows the factors that were computed for the jobs of the runs beside those
// measured.
func scatter(rows []row) chart.Scatter {
	series := []chart.Series{
		{Name: "shares of a processor, per workload"},
		{Name: "shares of a processor, per job"},
		{Name: "random priority orders: the model"},
	}
	for _, r := range rows {
		for i, computed := range []float64{r.Sharing, r.Discriminatory, r.Orders} {
			series[i].Pairs = append(series[i].Pairs, chart.Pair{Measured: r.Measured, Predicted: computed})
		}
	}
	return chart.Scatter{Title: "Workloads in cgroups on one core of Linux", Quantity: "response time factor", Unit: "×", Series: series, Log: true}
}
