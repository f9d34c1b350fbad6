package main

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"
)

// world returns the rounds of a machine on which each program's processor time grows by h times the pressure beside it at
// the last-level cache, and reporters show pressures as they are. Programs compute all the time.
func world(rounds int, programs map[string]struct{ pressure, h float64 }) (rows []row) {
	names := []string{"calm", "greedy"}
	for round := 1; round <= rounds; round++ {
		speed := 1 + 0.1*float64(round) // rounds differ, and what is compared does not
		for _, job := range pressed() {
			h := 0.0
			if job == "llc" {
				h = 0.5
			}
			noise := 1 + 0.001*float64(round%2) // an error that is known
			rows = append(rows, row{round, job, "", 0, apart, speed, speed}, row{round, job, job, 1, apart, speed * (1 + h) * noise, speed * (1 + h) * noise})
			for _, name := range names {
				x := speed * (1 + h*programs[name].pressure) * noise
				rows = append(rows, row{round, job, name, 1, apart, x, x})
			}
		}
		for _, a := range names {
			rows = append(rows, row{round, a, "", 0, apart, speed, speed})
			for _, job := range pressed() {
				x := speed
				if job == "llc" {
					x *= 1 + programs[a].h
				}
				rows = append(rows, row{round, a, job, 1, apart, x, x})
			}
			for _, b := range names {
				x := speed * (1 + programs[a].h*programs[b].pressure)
				rows = append(rows, row{round, a, b, 1, apart, x, x}, row{round, a, b, 1, shared, 2 * speed, speed})
			}
		}
	}
	var around []row
	for _, r := range rows {
		own := row{r.round, r.target, "", 0, apart, 1 + 0.1*float64(r.round), 1 + 0.1*float64(r.round)}
		around = append(around, own, r, own)
	}
	return around
}

func TestWhatProbesShowPredictsPairs(t *testing.T) {
	t.Parallel()
	rows := world(4, map[string]struct{ pressure, h float64 }{"calm": {0.1, 0.3}, "greedy": {0.8, 0.6}})
	var b bytes.Buffer
	if err := compare(&b, rows); err != nil {
		t.Fatal(err)
	}
	m := newMedians(rows)
	vectors, err := learn(&bytes.Buffer{}, m)
	if err != nil {
		t.Fatal(err)
	}
	got, err := predict(&vectors[0], &vectors[1], apart, true)
	if err != nil {
		t.Fatal(err)
	}
	for k, want := range []float64{1 + 0.3*0.8, 1 + 0.6*0.1} {
		if math.Abs(got[k]-want) > 3e-3 { // the noise of the rounds
			t.Errorf("program %d: %v, want %v", k, got[k], want)
		}
	}
	plain, err := predict(&vectors[0], &vectors[1], apart, false)
	if err != nil || plain[0] != 1 {
		t.Errorf("without interference: %v, %v; want 1", plain, err)
	}
	if on, err := predict(&vectors[0], &vectors[1], shared, true); err != nil || math.Abs(on[0]-2) > 1e-6 {
		t.Errorf("on one processor: %v, %v; want 2, as they never run at once", on, err)
	}
	for _, want := range []string{"apart: 0.0 % mean, 0.1 % worst", "memory-bandwidth beside itself at a pressure of 1: 1.0", "not measured"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("there is no %q in\n%s", want, &b)
		}
	}
}

func TestRowsAreReadAsTheyAreWritten(t *testing.T) {
	t.Parallel()
	path := t.TempDir() + "/rounds.csv"
	want := []row{{1, "gzip", "", 0, apart, 0.15, 0.14}, {1, "gzip", "llc", 0.25, shared, 0.3, 0.2}}
	for _, r := range want {
		add, done, err := appendTo(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := add(r); err != nil {
			t.Fatal(err)
		}
		if err := done(); err != nil {
			t.Fatal(err)
		}
	}
	got, err := readFile(path)
	if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
}

func TestWrongRowsAreNamed(t *testing.T) {
	t.Parallel()
	head := strings.Join(header(), ",") + "\n"
	for text, want := range map[string]string{
		"a,b\n":                                "wrong number of fields",
		"round,target,beside,pressure,x,y,z\n": "the columns are",
		head + "1,gzip,,0,apart,0,1\n":         "line 2: times are not above 0",
		head + "1,gzip,,0,apart,1,NaN\n":       "line 2: times are not above 0",
		head + "1,gzip,,0,apart,1,Inf\n":       "line 2: times are not above 0",
		head + "1,gzip,llc,2,apart,1,1\n":      "or a pressure is not from 0 to 1",
		head + "one,gzip,,0,apart,1,1\n":       `parsing "one"`,
		head + "1,gzip,,0,apart,1\n":           "wrong number of fields",
	} {
		if _, err := readRows(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error = %v, want one with %q", text, err, want)
		}
	}
}

func TestAPairComparesWithWhatWasAloneAroundIt(t *testing.T) {
	t.Parallel()
	m := newMedians([]row{
		{1, "gzip", "", 0, apart, 9, 9},
		{1, "gzip", "", 0, apart, 1, 1},
		{1, "xz", "", 0, apart, 5, 5},
		{1, "gzip", "xz", 1, apart, 4, 3},
		{2, "gzip", "", 0, apart, 3, 2},
		{2, "gzip", "", 0, apart, 9, 9},
	})
	if wall, cpu, ok := m.dilation("gzip", "xz", apart); !ok || wall != 2 || cpu != 2 {
		t.Errorf("%v, %v, %v; want 4 and 3 over the means of 1 and 3, and of 1 and 2", wall, cpu, ok)
	}
	if _, _, ok := m.dilation("gzip", "sort", apart); ok {
		t.Error("a pair that did not run has a dilation")
	}
}

func TestAPairOfProgramsThatNeverRanAloneIsLeftOut(t *testing.T) {
	t.Parallel()
	if _, _, ok := newMedians([]row{{1, "gzip", "xz", 1, apart, 4, 3}}).dilation("gzip", "xz", apart); ok {
		t.Error("there is nothing to compare with, and there is a dilation")
	}
}

func TestWrongUseIsNamed(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]string{
		"want run or compare: see":   nil,
		`got "measure"`:              {"measure"},
		"--out is needed":            {"run"},
		"--slice at least 400ms":     {"run", "--out", "x", "--slice", "1ms"},
		"want one file":              {"compare"},
		"open nowhere: no such file": {"compare", "nowhere"},
	} {
		if err := run(t.Context(), args); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error = %v, want %q", args, err, want)
		}
	}
}
