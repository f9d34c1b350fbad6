package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strings"

	"loadline.dev/loadline/pkg/model/fit"
)

// kindOf takes ('name', accelerators) apart.
var kindOf = regexp.MustCompile(`^\('(.+)', (\d+)\)$`)

// alone is the key of the throughput of a job alone.
const alone = "null"

// jsonReader reads a table of throughputs token by token, to keep the order and know the line.
type jsonReader struct {
	data    []byte
	decoder *json.Decoder
}

// errorf returns an error with the line that was read last.
func (r *jsonReader) errorf(format string, arguments ...any) error {
	line := 1 + bytes.Count(r.data[:r.decoder.InputOffset()], []byte("\n"))
	return fmt.Errorf("line %d: %w", line, fmt.Errorf(format, arguments...))
}

// delimiter reads one that must come next.
func (r *jsonReader) delimiter(want json.Delim, what string) error {
	token, err := r.decoder.Token()
	if err != nil {
		return r.errorf("%s: %w", what, err)
	}
	if token != want {
		return r.errorf("%s: %v is not %q", what, token, want.String())
	}
	return nil
}

// object reads an object, calling each with every key.
func (r *jsonReader) object(what string, each func(key string) error) error {
	if err := r.delimiter('{', what); err != nil {
		return err
	}
	seen := map[string]bool{}
	for r.decoder.More() {
		token, err := r.decoder.Token()
		if err != nil {
			return r.errorf("%s: %w", what, err)
		}
		key, isKey := token.(string)
		if !isKey || seen[key] {
			return r.errorf("%s: %v is no key, or appears twice", what, token)
		}
		seen[key] = true
		if err := each(key); err != nil {
			return err
		}
	}
	return r.delimiter('}', what)
}

// throughput reads a number of at least 0.
func (r *jsonReader) throughput(what string) (float64, error) {
	token, err := r.decoder.Token()
	if err != nil {
		return 0, r.errorf("%s: %w", what, err)
	}
	value, isNumber := token.(float64)
	if !isNumber || !(value >= 0) || math.IsInf(value, 0) {
		return 0, r.errorf("%s: %v is not a throughput of at least 0", what, token)
	}
	return value, nil
}

// both are the throughputs of a job and of another beside it.
type both struct {
	job, other   string
	mine, theirs float64
}

// device is what was measured on one.
type device struct {
	alone   map[string]float64
	pairs   []both
	skipped map[string]bool // jobs on several accelerators
}

// readPairs reads a table of throughputs on accelerators:
//
//	{device: {"('name', accelerators)": {"null": alone, "('other', accelerators)": [mine, others]}}}
//
// Jobs on several accelerators are skipped. Pairs with a throughput of 0 could not run together. Devices on which fewer than
// two pairs ran are left out, unless there are no others.
func readPairs(name string, data []byte) ([]set, error) {
	r := &jsonReader{data, json.NewDecoder(bytes.NewReader(data))}
	var sets []set
	var left []string
	err := r.object("table", func(key string) error {
		d := device{alone: map[string]float64{}, skipped: map[string]bool{}}
		if err := r.object(key, func(job string) error { return r.job(&d, key, job) }); err != nil {
			return err
		}
		s, err := d.set(name, key)
		if err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		if len(s.runs) < 2 {
			left = append(left, key)
			return nil
		}
		sets = append(sets, s)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(sets) == 0 {
		return nil, r.errorf("table: there is no device on which two pairs of jobs ran")
	}
	if len(left) > 0 {
		sets = append(sets, leftOut(fmt.Sprintf("%s: devices with fewer than two pairs are left out: %s.", name, strings.Join(left, ", "))))
	}
	return sets, nil
}

// leftOut is what is not measured, and why.
type leftOut string

func (leftOut) measure() ([]row, error) { return nil, nil }
func (l leftOut) notes() []string       { return []string{string(l)} }

// job reads what a job does alone and beside others.
func (r *jsonReader) job(d *device, device, job string) error {
	where := device + ": " + job
	kind := kindOf.FindStringSubmatch(job)
	if kind == nil {
		return r.errorf("%s: is not of the form ('name', accelerators)", where)
	}
	return r.object(where, func(other string) error {
		field := where + ": " + other
		if other == alone {
			value, err := r.throughput(field)
			if kind[2] == "1" {
				d.alone[kind[1]] = value
			}
			return err
		}
		beside := kindOf.FindStringSubmatch(other)
		if beside == nil {
			return r.errorf("%s: is not of the form ('name', accelerators)", field)
		}
		if err := r.delimiter('[', field); err != nil {
			return err
		}
		mine, err := r.throughput(field)
		if err != nil {
			return err
		}
		theirs, err := r.throughput(field)
		if err != nil {
			return err
		}
		switch {
		case kind[2] != "1":
			d.skipped[job] = true
		case beside[2] == "1":
			d.pairs = append(d.pairs, both{kind[1], beside[1], mine, theirs})
		}
		return r.delimiter(']', field)
	})
}

// set makes runs of the pairs: one of those that are in the table twice with the same figures.
func (d device) set(name, key string) (runSet, error) {
	s := runSet{name: name, resource: "accelerator " + key}
	seen := map[both]bool{}
	zeros := 0
	for _, p := range d.pairs {
		if seen[both{p.other, p.job, p.theirs, p.mine}] || p.mine == 0 || p.theirs == 0 {
			if p.mine == 0 || p.theirs == 0 {
				zeros++
			}
			continue
		}
		seen[p] = true
		own, others := d.alone[p.job], d.alone[p.other]
		if !(own > 0 && others > 0) {
			return runSet{}, fmt.Errorf("%q beside %q: the throughput alone (%s) of both must be above 0, not %v and %v", p.job, p.other, alone, own, others)
		}
		s.runs = append(s.runs, fit.Run{Name: fmt.Sprint(len(s.runs) + 1), Members: []fit.Member{
			{Job: p.job, Dilation: rounded(own / p.mine)}, {Job: p.other, Dilation: rounded(others / p.theirs)},
		}})
	}
	if zeros > 0 {
		s.remarks = append(s.remarks, fmt.Sprintf("%s, %s: %d entries with a throughput of 0, which could not run together, are left out.", name, key, zeros))
	}
	if skipped := len(d.skipped); skipped > 0 {
		s.remarks = append(s.remarks, fmt.Sprintf("%s, %s: %d jobs on several accelerators are left out.", name, key, skipped))
	}
	return s, nil
}

// rounded keeps four decimals, as gpu-pairs-k80.csv does.
func rounded(dilation float64) float64 { return math.Round(dilation*1e4) / 1e4 }
