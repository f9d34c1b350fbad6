package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/contention/probing"
	"loadline.dev/loadline/pkg/model/queueing"
	"loadline.dev/loadline/pkg/text"
)

// vector is what the rounds tell of one program.
type vector struct {
	name    string
	loading float64 // of the processor
	effects []contention.Effect
}

// sensitivityOf returns the curve of a program or a reporter beside the bubbles of a job.
func (m *medians) sensitivityOf(target, job string) (probing.Sensitivity, error) {
	var levels []probing.Level
	for _, pressure := range m.pressures(target, job) {
		levels = append(levels, probing.Level{Pressure: pressure, Inflations: m.inflations(target, job, pressure, apart)})
	}
	return probing.FitSensitivity(levels)
}

// learn returns the vectors of the programs, and says what the machine shows.
func learn(to io.Writer, m *medians) ([]vector, error) {
	reporters := map[string]probing.Sensitivity{}
	for _, job := range pressed() {
		s, err := m.sensitivityOf(job, job)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", job, err)
		}
		reporters[job] = s
		fmt.Fprintf(to, "%s beside itself at a pressure of 1: %v\n", job, s.Largest())
	}
	var vectors []vector
	for _, name := range m.programs() {
		v := vector{name: name, loading: m.loading(name)}
		fmt.Fprintf(to, "%s: loading %.3f", name, v.loading)
		for _, job := range pressed() {
			s, err := m.sensitivityOf(name, job)
			if err != nil {
				return nil, fmt.Errorf("%s beside %s: %w", name, job, err)
			}
			slows, err := probing.GeometricMean(m.inflations(job, name, 1, apart))
			if err != nil {
				return nil, fmt.Errorf("%s beside %s: %w", job, name, err)
			}
			e := contention.Effect{}
			pressure, err := reporters[job].Pressure(slows)
			switch {
			case errors.Is(err, probing.ErrAmbiguous): // nothing to press on
			case err != nil:
				return nil, fmt.Errorf("%s beside %s: %w", job, name, err)
			default:
				e = contention.Effect{Pressure: pressure.Value, Curve: s.Curve()}
			}
			fmt.Fprintf(to, "; %s: inflation %v, pressure %v", job, s.Largest(), pressure)
			v.effects = append(v.effects, e)
		}
		fmt.Fprintln(to)
		vectors = append(vectors, v)
	}
	return vectors, nil
}

// predict returns the dilations of two programs, with the interference model or without.
func predict(a, b *vector, where place, interference bool) ([]float64, error) {
	servers := []int{2}
	if where == shared {
		servers[0] = 1
	}
	jobs := []contention.Vector{{contention.Symmetric(a.loading)}, {contention.Symmetric(b.loading)}}
	if interference {
		for k := range a.effects {
			servers = append(servers, 1)
			jobs[0] = append(jobs[0], contention.Demand{Effect: &a.effects[k]})
			jobs[1] = append(jobs[1], contention.Demand{Effect: &b.effects[k]})
		}
	}
	p, err := contention.Predict(jobs, servers, queueing.Options{})
	if err != nil {
		return nil, fmt.Errorf("%s and %s: %w", a.name, b.name, err)
	}
	return p.Dilations, nil
}

// deviations are relative errors of predictions.
type deviations []float64

// String returns their mean and the largest.
func (d deviations) String() string {
	sum := 0.0
	for _, v := range d {
		sum += v
	}
	const percent = 100
	return fmt.Sprintf("%.1f %% mean, %.1f %% worst", percent*sum/float64(len(d)), percent*slices.Max(d))
}

// compareFile writes measured beside predicted dilations.
func compareFile(to io.Writer, path string) error {
	rows, err := readFile(path)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return compare(to, rows)
}

// compare writes measured beside predicted dilations of all pairs.
func compare(to io.Writer, rows []row) error {
	m := newMedians(rows)
	vectors, err := learn(to, m)
	if err != nil {
		return err
	}
	t := text.NewTable(text.Left("PROGRAM"), text.Left("BESIDE"), text.Left("WHERE"), text.Right("CPU TIME"), text.Right("WALL TIME"),
		text.Right("PREDICTED"), text.Right("WITHOUT INTERFERENCE"))
	with, without := map[place]deviations{}, map[place]deviations{}
	for i := range vectors {
		for j := range vectors {
			for _, where := range []place{apart, shared} {
				a, b := &vectors[i], &vectors[j]
				measured, cpu, ok := m.dilation(a.name, b.name, where)
				if !ok {
					continue
				}
				inflated, err := predict(a, b, where, true)
				if err != nil {
					return err
				}
				plain, err := predict(a, b, where, false)
				if err != nil {
					return err
				}
				with[where] = append(with[where], math.Abs(inflated[0]/measured-1))
				without[where] = append(without[where], math.Abs(plain[0]/measured-1))
				t.Add(a.name, b.name, string(where), decimals(cpu), decimals(measured), decimals(inflated[0]), decimals(plain[0]))
			}
		}
	}
	if err := t.Write(to); err != nil {
		return err
	}
	for _, where := range []place{apart, shared} {
		if len(with[where]) > 0 {
			fmt.Fprintf(to, "%s: %v; without interference %v\n", where, with[where], without[where])
		}
	}
	return nil
}

func decimals(v float64) string { return fmt.Sprintf("%.3f", v) }
