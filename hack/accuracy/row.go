package main

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"loadline.dev/loadline/pkg/report/chart"
)

// row is the error of a model on a data set.
type row struct {
	set, resource, model string
	count                int
	// ratio is of |λ̂ − λ|/λ. excess is of |λ̂ − λ| over the mean of |λ − 1| in the set: the single ratio is undefined at 1.
	ratio, excess summary
}

type summary struct{ mean, p90, worst float64 }

// newRow compares predictions with what was measured.
func newRow(set, resource, model string, measured, predicted []float64) row {
	unit := 0.0
	for _, m := range measured {
		unit += math.Abs(m-1) / float64(len(measured))
	}
	ratio, excess := make([]float64, len(measured)), make([]float64, len(measured))
	for i, m := range measured {
		off := math.Abs(predicted[i] - m)
		ratio[i], excess[i] = off/m, off/unit
	}
	return row{set, resource, model, len(measured), summaryOf(ratio), summaryOf(excess)}
}

func summaryOf(errs []float64) summary {
	slices.Sort(errs)
	s := summary{worst: errs[len(errs)-1], p90: errs[max(0, int(math.Ceil(0.9*float64(len(errs))))-1)]}
	for _, e := range errs {
		s.mean += e / float64(len(errs))
	}
	return s
}

// String writes percentages; what is not a number, as all errors of the excess are where nothing is dilated, is a dash.
func (s summary) String() string {
	cells := make([]string, 0, 3)
	for _, v := range []float64{s.mean, s.p90, s.worst} {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			cells = append(cells, "–")
			continue
		}
		cells = append(cells, fmt.Sprintf("%.1f %%", 100*v))
	}
	return strings.Join(cells, " | ")
}

// table writes rows as Markdown.
func table(rows []row) string {
	var b strings.Builder
	b.WriteString("| data set | resource | observations | model | λ: mean | p90 | worst | λ − 1: mean | p90 | worst |\n|---|---|---|---|---|---|---|---|---|---|\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s | %s | %d | %s | %v | %v |\n", r.set, r.resource, r.count, r.model, r.ratio, r.excess)
	}
	return b.String()
}

// notesOf writes notes as a list.
func notesOf(notes []string) string {
	if len(notes) == 0 {
		return ""
	}
	return "\n- " + strings.Join(notes, "\n- ") + "\n"
}

// What stands between these in a page is generated.
const (
	begin = "<!-- begin: make accuracy -->\n"
	end   = "<!-- end: make accuracy -->"
)

// between replaces what stands between the markers of a page.
func between(page, text string) (string, error) {
	before, rest, found := strings.Cut(page, begin)
	_, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		return "", errors.New("the markers of make accuracy are missing")
	}
	return before + begin + text + end + after, nil
}

// place names the data set and the resource in a picture.
func (r row) place() string {
	return strings.TrimSuffix(r.set, filepath.Ext(r.set)) + ", " + r.resource
}

// picture draws the mean errors.
func picture(rows []row) chart.Chart {
	c := chart.Comparison{Title: "Mean error on what a model has not seen", Quantity: "mean error of the ratio", Unit: "%", CasesAre: "data set"}
	places := map[string]int{}
	for _, r := range rows {
		name := r.place()
		if _, known := places[name]; !known {
			places[name] = len(places)
			c.Cases = append(c.Cases, name)
		}
	}
	contenders := map[string]int{}
	for _, r := range rows {
		at, known := contenders[r.model]
		if !known {
			at = len(contenders)
			contenders[r.model] = at
			c.Contenders = append(c.Contenders, chart.Contender{Name: r.model, Values: slices.Repeat([]float64{math.NaN()}, len(places))})
		}
		c.Contenders[at].Values[places[r.place()]] = 100 * r.ratio.mean
	}
	return c
}
