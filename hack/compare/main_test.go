package main

import (
	"strings"
	"testing"

	"loadline.dev/loadline/hack/scenario"
)

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
