package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"loadline.dev/loadline/pkg/text"
)

// show prints tables, and writes the one for the documentation into the folder.
func (r *Results) show(out string) error {
	rows, err := r.summarize()
	if err != nil {
		return err
	}
	if err := r.writePrograms(os.Stdout); err != nil {
		return err
	}
	fmt.Println()
	if err := r.writeBatches(os.Stdout); err != nil {
		return err
	}
	fmt.Println()
	lines := r.notes()
	if err := writeRows(os.Stdout, rows); err != nil {
		return err
	}
	fmt.Println(strings.Join(lines, "\n"))
	path := filepath.Join(out, "table.md")
	if err := os.WriteFile(path, []byte(markdown(rows)+"\n"+strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
		return err
	}
	fmt.Println("For the documentation:", path)
	return nil
}

// writePrograms prints what each program does alone.
func (r *Results) writePrograms(w io.Writer) error {
	t := text.NewTable(text.Left("PROGRAM"), text.Right("SIZE"), text.Right("PAUSE"), text.Right("CLIENTS"), text.Right("RUNS ALONE"), text.Right("ROUND"),
		text.Right("± BY RUN"), text.Right("WORK"), text.Right("CORES USED"), text.Right("LOADING BY GAUGE"), text.Right("THREADS"))
	for i, p := range r.Programs {
		runs := 0
		for _, a := range r.Alone {
			if a.Program == i {
				runs++
			}
		}
		loading, threads := r.seen(i)
		t.Add(p.Name, fmt.Sprint(p.Size), p.Think.String(), fmt.Sprint(p.Clients), fmt.Sprint(runs), text.Seconds(r.alone(i, "", roundTime), 4),
			text.Percent(r.aloneNoise(i)), text.Seconds(r.alone(i, "", workTime), 4), text.Decimal(r.used(i), 3),
			text.Decimal(loading, 3), text.Decimal(threads, 1))
	}
	return t.Write(w)
}

// aloneNoise returns the relative standard deviation of the runs of a program alone on the same node, 0 of one run.
func (r *Results) aloneNoise(p int) float64 {
	squares, freedom := 0.0, 0
	for _, node := range workers() {
		var runs []float64
		for _, a := range r.Alone {
			if a.Program == p && a.Node == node {
				runs = append(runs, a.Account.Round)
			}
		}
		if len(runs) < 2 {
			continue
		}
		mean, variance := stat.MeanVariance(runs, nil)
		squares += variance / (mean * mean) * float64(len(runs)-1)
		freedom += len(runs) - 1
	}
	if freedom == 0 {
		return 0
	}
	return math.Sqrt(squares / float64(freedom))
}

// writeBatches prints the mean dilation of each batch.
func (r *Results) writeBatches(w io.Writer) error {
	columns := []text.Column{text.Right("BATCH"), text.Left("PODS (REQUEST)"), text.Right("CORES USED ALONE")}
	for _, s := range schedulers() {
		columns = append(columns, text.Right(strings.ToUpper(s.name)))
	}
	t := text.NewTable(columns...)
	for _, row := range r.batches(roundTime) {
		first := row[loadline].turns[0]
		var pods []string
		used := 0.0
		for i, p := range r.Batches[first.Batch] {
			pods = append(pods, fmt.Sprintf("%s (%dm)", r.Programs[p.Program].Name, first.Requests[i]))
			used += r.used(p.Program)
		}
		cells := []string{fmt.Sprint(first.Batch + 1), strings.Join(pods, ", "), text.Decimal(used, 2)}
		for _, s := range schedulers() {
			cells = append(cells, text.Decimal(row[s.name].mean, 3)+"×")
		}
		t.Add(cells...)
	}
	return t.Write(w)
}

// header are the columns of the summary.
func header() []string {
	return []string{"scheduler", "mean dilation", "p95", "worst", "work of a round", "p95 of web requests"}
}

func (row *Row) cells() []string {
	return []string{row.Scheduler, row.Mean.with(3), row.P95.with(2), text.Decimal(row.Worst, 2), row.Work.with(2), row.Requests95.with(2)}
}

// with writes an interval, one that is symmetric by its half width.
func (i Interval) with(decimals int) string {
	if i == (Interval{}) {
		return text.Absent
	}
	if math.IsNaN(i.Low) {
		return text.Decimal(i.Mean, decimals)
	}
	const rounding = 1e-9
	if half := i.High - i.Mean; math.Abs(i.Mean-i.Low-half) < rounding {
		return text.Decimal(i.Mean, decimals) + " ± " + text.Decimal(half, decimals)
	}
	return fmt.Sprintf("%s (%s to %s)", text.Decimal(i.Mean, decimals), text.Decimal(i.Low, decimals), text.Decimal(i.High, decimals))
}

func writeRows(w io.Writer, rows []Row) error {
	var columns []text.Column
	for i, name := range header() {
		if i == 0 {
			columns = append(columns, text.Left(strings.ToUpper(name)))
		} else {
			columns = append(columns, text.Right(strings.ToUpper(name)))
		}
	}
	t := text.NewTable(columns...)
	for i := range rows {
		t.Add(rows[i].cells()...)
	}
	return t.Write(w)
}

// markdown returns the summary as a page has it.
func markdown(rows []Row) string {
	lines := []string{"| " + strings.Join(header(), " | ") + " |", strings.Repeat("|---", len(header())) + "|"}
	for i := range rows {
		lines = append(lines, "| "+strings.Join(rows[i].cells(), " | ")+" |")
	}
	return strings.Join(lines, "\n") + "\n"
}

// notes say how to read the summary. There must be a batch.
func (r *Results) notes() []string {
	batches := r.batches(roundTime)
	var lines []string
	for _, s := range schedulers() {
		if s.name == loadline {
			continue
		}
		c := r.contest(s.name)
		lines = append(lines, fmt.Sprintf("Loadline beside %s: %d of %d batches better, %d worse, %d no different beyond noise, of which %d placed alike; mean dilation less by %s; excess saved %s.",
			c.Other, c.Won, len(batches), c.Lost, c.Tied, c.Alike, c.Less.with(3), Interval{100 * c.Saved.Mean, 100 * c.Saved.Low, 100 * c.Saved.High}.with(0)+" %"))
	}
	deviation, freedom := r.noise(roundTime)
	if freedom == 0 {
		lines = append(lines, "Noise is not known, as no two schedulers placed a batch alike: every difference counts.")
	} else {
		lines = append(lines, fmt.Sprintf("Noise: the mean dilation of a batch has a standard deviation of %.3f from turn to turn with the same placement (%d degrees of freedom).", deviation, freedom))
	}
	var others, stolen, used, requested []float64
	for i := range r.Turns {
		others, stolen = append(others, r.Turns[i].Others), append(stolen, r.Turns[i].Stolen)
	}
	for _, row := range batches {
		t := row[loadline].turns[0]
		sum, asked := 0.0, 0
		for i, p := range r.Batches[t.Batch] {
			sum += r.used(p.Program)
			asked += t.Requests[i]
		}
		used, requested = append(used, sum), append(requested, float64(asked)/1000)
	}
	lines = append(lines,
		fmt.Sprintf("A batch uses %.2f cores alone and requests %.2f, of two.", stat.Mean(used, nil), stat.Mean(requested, nil)),
		fmt.Sprintf("Anything but the pods used %.2f cores on average and %.2f at worst while batches were measured; the hypervisor took %.2f and %.2f.",
			stat.Mean(others, nil), slices.Max(others), stat.Mean(stolen, nil), slices.Max(stolen)))
	if stat.Mean(others, nil)+stat.Mean(stolen, nil) > quiet {
		lines = append(lines, "The machine was not quiet. Measure again.")
	}
	return append(lines, "Machine: "+r.Machine+".")
}

// quiet is how many processors may be busy with something else: the cluster itself takes a tenth of one.
const quiet = 0.3
