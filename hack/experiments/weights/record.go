package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"

	"loadline.dev/loadline/hack/experiments/weights/account"
)

// record is a mix that ran, or a job alone.
type record struct {
	cores int
	mix   mix
	pods  []measured
}

// measured is what a pod did in the window.
type measured struct {
	// pace is the progress of a synthetic job per time, 1 where nothing holds it back; of a program its operations per
	// second.
	pace float64
	// cpu is the fraction of the window in which it ran, per thread.
	cpu float64
	// speed is the work per second of processor time: what a processor did.
	speed float64
}

// of returns what accounts say.
func of(a account.Account, program bool) measured {
	var m measured
	var cpu, work float64
	for _, p := range a.Parts {
		cpu += p.CPU.Seconds()
		work += p.Work
		m.cpu += p.CPU.Seconds() / p.Wall.Seconds() / float64(len(a.Parts))
	}
	m.pace, m.speed = a.Pace(), work/cpu
	if program {
		m.pace = work / a.Parts[0].Wall.Seconds()
	}
	return m
}

var header = []string{"cores", "mix", "pod", "pace", "cpu", "speed"}

// add adds the record to a file, with a header if it is new.
func (r *record) add(path string) (err error) {
	_, missing := os.Stat(path)
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	var lines [][]string
	if errors.Is(missing, fs.ErrNotExist) {
		lines = append(lines, header)
	}
	for i, m := range r.pods {
		lines = append(lines, []string{
			strconv.Itoa(r.cores), r.mix.String(), strconv.Itoa(i + 1), number(m.pace), number(m.cpu), number(m.speed),
		})
	}
	return csv.NewWriter(file).WriteAll(lines)
}

func number(v float64) string {
	const digits = 5
	return strconv.FormatFloat(v, 'g', digits, 64)
}

// readRecords reads what add has written.
func readRecords(from io.Reader) ([]record, error) {
	lines, err := csv.NewReader(from).ReadAll()
	if err != nil {
		return nil, err
	}
	if len(lines) == 0 || !slices.Equal(lines[0], header) {
		return nil, fmt.Errorf("the first line is not %q", header)
	}
	var all []record
	for i, line := range lines[1:] {
		const before = 2 // the header, and counting from 1
		cores, err := strconv.Atoi(line[0])
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+before, err)
		}
		place, err := strconv.Atoi(line[2])
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+before, err)
		}
		if place == 1 {
			m, err := parseMix(line[1])
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", i+before, err)
			}
			all = append(all, record{cores: cores, mix: m})
		}
		if len(all) == 0 || all[len(all)-1].mix.String() != line[1] || len(all[len(all)-1].pods)+1 != place {
			return nil, fmt.Errorf("line %d: pod %d of %q is out of order", i+before, place, line[1])
		}
		var values [3]float64
		for k := range values {
			if values[k], err = strconv.ParseFloat(line[3+k], 64); err != nil {
				return nil, fmt.Errorf("line %d: %w", i+before, err)
			}
		}
		last := &all[len(all)-1]
		last.pods = append(last.pods, measured{values[0], values[1], values[2]})
	}
	return all, nil
}
