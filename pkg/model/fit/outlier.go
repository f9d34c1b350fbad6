package fit

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

const (
	// farOff is how many standard deviations make an outlier. One observation in
	// 16,000 is that far off by chance.
	farOff = 4
	// leastDoubt is the smallest relative difference that is reported.
	leastDifference = 0.05
	// grosslyOff is the logarithm of the factor from which on an alone time is
	// reported as wrong whose interval is not known: it is off against the pull.
	grosslyOff = math.Ln2
)

// Outlier is an observation that the fit does not explain.
type Outlier struct {
	Run, Job         string
	Measured, Fitted float64
	// Deviations is how far off it is, in standard deviations of such an error:
	// negative where the job was faster than the fit says.
	Deviations float64
}

// String returns the outlier as a sentence.
func (o Outlier) String() string {
	return fmt.Sprintf("run %q: job %q: a dilation of %.3g was measured where the fit gives %.3g (%.1f standard deviations)",
		o.Run, o.Job, o.Measured, o.Fitted, math.Abs(o.Deviations))
}

// outliersOf returns the observations whose errors, each divided by its own
// standard deviation, are far from what noise does; the farthest first. An
// observation that the fit had to follow, because there is little else on its
// job, has a small error with a small deviation.
func outliersOf(a *alternation, c *covariance) []Outlier {
	var outliers []Outlier
	first := len(c.equations) - len(a.samples)
	for o, s := range a.samples {
		fitted := a.predicted(o)
		deviations := -a.relativeError(o) / (c.noise * math.Sqrt(1-c.equations[first+o].leverage))
		if math.Abs(deviations) > farOff && math.Abs(fitted/s.dilation-1) > leastDifference {
			outliers = append(outliers, Outlier{a.runs[s.run].Name, a.jobs[s.job], s.dilation, fitted, deviations})
		}
	}
	slices.SortStableFunc(outliers, func(x, y Outlier) int { return cmp.Compare(math.Abs(y.Deviations), math.Abs(x.Deviations)) })
	return outliers
}

// WrongAlone is a job whose alone time differs from the stated one, by the dilations that were
// measured over it.
type WrongAlone struct {
	Job string
	// Factor is the true alone time over the stated one.
	Factor Estimate
}

// String returns it as a sentence.
func (w WrongAlone) String() string {
	if w.Factor.Value > 1 {
		return fmt.Sprintf("the alone time of %q looks off by %.3g×: it is too short", w.Job, w.Factor.Value)
	}
	return fmt.Sprintf("the alone time of %q looks off by %.3g×: it is too long", w.Job, 1/w.Factor.Value)
}

// wrongAloneOf returns the jobs whose baselines differ from 1 by more than may be
// chance and by enough to matter, the worst first.
func wrongAloneOf(jobs []Job) []WrongAlone {
	var wrong []WrongAlone
	off := func(w WrongAlone) float64 { return math.Abs(math.Log(w.Factor.Value)) }
	for _, j := range jobs {
		w := WrongAlone{j.Name, j.Baseline}
		sure := w.Factor.Low > 1 || w.Factor.High < 1 || w.Factor.Unknown != "" && off(w) > grosslyOff
		if sure && off(w) > leastDifference {
			wrong = append(wrong, w)
		}
	}
	slices.SortStableFunc(wrong, func(x, y WrongAlone) int { return cmp.Compare(off(y), off(x)) })
	return wrong
}

// Contradiction is a job that was measured more than once in the same company,
// with dilations that noise does not explain.
type Contradiction struct {
	Job          string
	Company      []string // the other jobs of the run
	Lowest, Most float64  // the dilations furthest apart
	Runs         []string // where they were measured
}

// String returns the contradiction as a sentence.
func (c Contradiction) String() string {
	return fmt.Sprintf("job %q beside %s: dilations of %.3g and %.3g were measured (runs %s)",
		c.Job, strings.Join(c.Company, ", "), c.Lowest, c.Most, strings.Join(c.Runs, " and "))
}

// contradictionsOf compares the observations of equal company.
func contradictionsOf(a *alternation, noise float64) []Contradiction {
	same := map[string][]int{}
	var order []string
	for o, s := range a.samples {
		key := s.company()
		if same[key] == nil {
			order = append(order, key)
		}
		same[key] = append(same[key], o)
	}
	var found []Contradiction
	for _, key := range order {
		by := func(x, y int) int { return cmp.Compare(a.samples[x].dilation, a.samples[y].dilation) }
		low, high := slices.MinFunc(same[key], by), slices.MaxFunc(same[key], by)
		l, h := a.samples[low], a.samples[high]
		if math.Log(h.dilation/l.dilation) <= max(2*leastDifference, farOff*math.Sqrt2*noise) {
			continue
		}
		c := Contradiction{Job: a.jobs[l.job], Lowest: l.dilation, Most: h.dilation, Runs: []string{a.runs[l.run].Name, a.runs[h.run].Name}}
		for b, job := range a.members[l.run] {
			if b != l.member {
				c.Company = append(c.Company, a.jobs[job])
			}
		}
		found = append(found, c)
	}
	return found
}

// qualityOf compares the fit with its own observations.
func qualityOf(a *alternation, c *covariance, hidden bool) Quality {
	m := a.resources
	q := Quality{Runs: len(informative(a.problem)), Observations: len(a.samples), Noise: c.noise}
	q.Unknowns = a.unknowns()
	for j := range a.jobs {
		if a.strength(j) >= pinned {
			q.Unknowns -= 2 * m
		}
	}
	if hidden && a.scaleFree() {
		q.Unknowns -= m * m
	}
	errs := make([]float64, len(a.samples))
	for o, s := range a.samples {
		errs[o] = math.Abs(a.predicted(o)/s.dilation - 1)
	}
	e := modelError("", errs)
	q.Mean, q.P90, q.Worst = e.Mean, e.P90, e.Worst
	return q
}
