package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"loadline.dev/loadline/pkg/model/fit"
)

// runSet is co-located runs, of which fit leaves out one part of five at a time.
type runSet struct {
	name, resource string
	runs           []fit.Run
	remarks        []string
}

func (s runSet) measure() ([]row, error) {
	return crossValidate(s.name, s.resource, s.runs, fit.Options{})
}

// crossValidate returns the errors of fit and of the models that it is compared with, on the same folds.
func crossValidate(set, resource string, runs []fit.Run, options fit.Options) ([]row, error) {
	held, err := fit.CrossValidate(runs, options)
	if err != nil {
		return nil, err
	}
	measured := make([]float64, len(held.Points))
	for i, p := range held.Points {
		measured[i] = p.Measured
	}
	var rows []row
	for _, m := range held.Models {
		rows = append(rows, newRow(set, resource, m.Model, measured, m.Predictions))
	}
	return rows, nil
}

func (s runSet) notes() []string {
	return append([]string{fmt.Sprintf("%s: %s.", s.name, repeats(s.runs))}, s.remarks...)
}

// repeats says how far repeats of the same measurement differ: of a job in the same company, in another run.
func repeats(runs []fit.Run) string {
	known := map[string][]float64{}
	for _, r := range runs {
		seen := map[string]bool{}
		for a, m := range r.Members {
			var others []string
			for b, o := range r.Members {
				if b != a {
					others = append(others, o.Job)
				}
			}
			slices.Sort(others)
			key := m.Job + "\x00" + strings.Join(others, "\x00")
			if m.Dilation != 0 && !seen[key] { // copies in one run are no repeat
				seen[key] = true
				known[key] = append(known[key], m.Dilation)
			}
		}
	}
	total, count := 0.0, 0
	for _, dilations := range known {
		mean := 0.0
		for _, d := range dilations {
			mean += d / float64(len(dilations))
		}
		for _, d := range dilations {
			if len(dilations) > 1 {
				total += math.Abs(d/mean - 1)
				count++
			}
		}
	}
	if count == 0 {
		return "nothing was measured twice, so that the noise is not known"
	}
	return fmt.Sprintf("%d repeats are %.1f %% from their mean, on average", count, 100*total/float64(count))
}
