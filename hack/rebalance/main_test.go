package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadline.dev/loadline/hack/comparison"
	"loadline.dev/loadline/hack/scenario"
)

// some are flags with which a comparison takes seconds.
func some(t *testing.T) *options {
	t.Helper()
	return &options{
		Options: scenario.Options{Nodes: 10, Requested: 0.7, ProfileError: 0.2, Use: 2}, seeds: 2, hours: 2, budgets: "1,2", remedies: "move",
		simulate: 2, precision: 0.1, output: "table", out: t.TempDir(),
	}
}

func TestRemediesAreComparedOverHoursAndSeeds(t *testing.T) {
	t.Parallel()
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	c, err := newComparer(some(t), comparison.NewProgress(null))
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(c.seeds) {
		if err := c.compare(t.Context(), seed+1); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, r := range c.runs {
		got = append(got, r.Remedy)
		if len(r.Of) != c.seeds || len(r.Of[0].Hours) != c.hours {
			t.Errorf("%s: %d seeds", r.Remedy, len(r.Of))
			continue
		}
		for hour, m := range r.Of[1].Hours {
			if simulated := hour == 1; simulated != (m.Simulation != nil) || m.Waiting > 0 || m.Model.Mean <= 1 {
				t.Errorf("%s: hour %d: %+v", r.Remedy, hour, m)
			}
		}
	}
	if diff := cmp.Diff([]string{"nothing", "Loadline, 1 move an hour", "Loadline, 2 moves an hour"}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	saved, err := os.ReadFile(filepath.Join(c.out, "rebalance.json"))
	if err != nil {
		t.Fatal(err)
	}
	var json, table bytes.Buffer
	if err := c.write(&json); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(json.String(), string(saved)); diff != "" {
		t.Errorf("what is saved differs from what is shown (-shown +saved)\n%s", diff)
	}
	if err := c.show(&table); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(table.String(), "\n"); got != 1+len(c.runs)+1 {
		t.Errorf("%d lines:\n%s", got, table.String())
	}
	if _, err := os.Stat(filepath.Join(c.out, "excess.svg")); err != nil {
		t.Error(err)
	}
}

func TestFiguresAreMeansOverHoursAndSeeds(t *testing.T) {
	t.Parallel()
	day := func(excess ...float64) *outcome {
		o := &outcome{Seconds: 4}
		for _, e := range excess {
			o.Hours = append(o.Hours, moment{acts: acts{Changes: 3, Disrupted: 2}, Model: verdict{Excess: e, Above: 2 * e}, Waiting: 1})
		}
		o.Hours[0].Simulation = &verdict{Excess: 10 * excess[0]}
		return o
	}
	rows := summarize([]runs{
		{"nothing", []*outcome{day(4, 8), day(10, 10)}},
		{"something", []*outcome{day(1, 2), day(5, 5)}},
		{"unfinished", []*outcome{day(1, 1)}},
	})
	if len(rows) != 2 {
		t.Fatalf("%d rows, where two remedies have all seeds", len(rows))
	}
	got := rows[1]
	for what, is := range map[string][2]float64{
		"excess": {got.Excess.Mean, 3.25}, "removed": {got.Removed, 1 - 3.25/8}, "pods above": {got.Above.Mean, 6.5},
		"simulated": {got.SimulatedExcess.Mean, 30}, "removed by the simulation": {got.SimulatedRemoved, 1 - 30.0/70},
		"changes": {got.Changes.Mean, 6}, "disrupted": {got.Disrupted.Mean, 4}, "waiting": {got.Waiting.Mean, 1}, "seconds": {got.Seconds.Mean, 2},
		"simulated hours": {float64(got.SimulatedHours), 1},
	} {
		if is[0] != is[1] {
			t.Errorf("%s: %v, want %v", what, is[0], is[1])
		}
	}
}

func TestWrongFlagsAreRefused(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*options){
		"--seeds: 0 ":           func(o *options) { o.seeds = 0 },
		"--hours: 25 ":          func(o *options) { o.hours = 25 },
		"--simulate-every: -1 ": func(o *options) { o.simulate = -1 },
		"--precision: 0 ":       func(o *options) { o.precision = 0 },
		`-o: "yaml" `:           func(o *options) { o.output = "yaml" },
		`--budgets: "-1" `:      func(o *options) { o.budgets = "1,-1" },
		"--remedies: error ":    func(o *options) { o.remedies = "(" },
		"nodes: 1 ":             func(o *options) { o.Nodes = 1 },
		"use: 9 ":               func(o *options) { o.Use = 9 },
	} {
		o := some(t)
		change(o)
		if _, err := newComparer(o, nil); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("want an error that begins with %q, got %v", want, err)
		}
	}
}

func TestTheDeschedulerIsComparedWhereItIs(t *testing.T) {
	t.Parallel()
	o := some(t)
	o.descheduler, o.remedies, o.budgets = "descheduler", ".", "10"
	all, err := o.contenders()
	if err != nil {
		t.Fatal(err)
	}
	if want := 1 + len(deschedulers("descheduler")) + len(loadlineKinds); len(all) != want {
		t.Errorf("%d remedies, want %d", len(all), want)
	}
}
