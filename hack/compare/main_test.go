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

// Without a cluster: the rows are those asked for, the wrong profiles are for least-dilation only, and after each seed a file has all.
func TestPoliciesAreComparedWithWrongProfilesToo(t *testing.T) {
	t.Parallel()
	o := &options{
		Options: scenario.Options{Nodes: 5, Requested: 0.5, Steps: 1, ProfileError: 0.2}, seeds: 2, output: "table", search: 5,
		policies: "least-requested,least-dilation", wrong: "0.5,missing,observed", devices: "fifo", precision: 0.05, out: t.TempDir(),
	}
	if err := o.validate(); err != nil {
		t.Fatal(err)
	}
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	c := &comparer{options: o, progress: comparison.NewProgress(null)}
	if err := c.place(t.Context()); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range c.runs {
		got = append(got, r.Name)
		if len(r.Of) != 2 {
			t.Errorf("%s: %d seeds", r.Name, len(r.Of))
		}
	}
	want := []string{
		"policy least-requested", "policy least-dilation", "policy least-dilation, profiles off by 50 %",
		"policy least-dilation, half of the profiles missing", "policy least-dilation, only what gauges observed in an hour",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if c.found == nil {
		t.Error("no better placement was searched for")
	}
	saved, err := os.ReadFile(filepath.Join(o.out, "comparison.json"))
	if err != nil {
		t.Fatal(err)
	}
	var shown bytes.Buffer
	if err := c.write(&shown); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(shown.String(), string(saved)); diff != "" {
		t.Errorf("what is saved differs from what is shown (-shown +saved)\n%s", diff)
	}
}

func TestWrongFlagsAreRefused(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*options){
		"--seeds: 0 ":                    func(o *options) { o.seeds = 0 },
		"--search: -1 ":                  func(o *options) { o.search = -1 },
		`-o: "yaml" `:                    func(o *options) { o.output = "yaml" },
		"--schedulers and --policies: ":  func(o *options) { o.policies = "," },
		"--schedulers: trimaran needs -": func(o *options) { o.schedulers = "loadline,trimaran" },
		`--openb: "pods.csv" is not two`: func(o *options) { o.openb = "pods.csv" },
		"--openb: open no-file: ":        func(o *options) { o.openb = "no-file,nodes.csv" },
		`--devices: "lifo" `:             func(o *options) { o.devices = "lifo" },
		"--precision: 0 ":                func(o *options) { o.precision = 0 },
		`--wrong-profiles: "2" is `:      func(o *options) { o.wrong = "missing,2" },
		"nodes: 0 ":                      func(o *options) { o.Nodes = 0 },
	} {
		o := options{Options: scenario.Options{Nodes: 50, Requested: 0.6}, seeds: 1, policies: "least-dilation", output: "table", devices: "sharing", precision: 0.01, wrong: "0.5,missing,observed"}
		if err := o.validate(); err != nil {
			t.Fatal(err)
		}
		change(&o)
		if err := o.validate(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("want an error that begins with %q, got %v", want, err)
		}
	}
}
