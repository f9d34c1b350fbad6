package main

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"
)

func TestWrongFlagsAreNamed(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*options){
		"--core: -1 is not between 0 and ":     func(o *options) { o.core = -1 },
		"--duration: 10ms is shorter than 1s":  func(o *options) { o.duration = 10 * time.Millisecond },
		"--repetitions, --rounds: 5 and 4 are": func(o *options) { o.rounds = 4 },
		"--patience: -1s is negative":          func(o *options) { o.patience = -time.Second },
		"--limit: 1 is not above 1":            func(o *options) { o.limit = 1 },
		`-o: "xml" is not table, csv or json`:  func(o *options) { o.output = "xml" },
		"--plot: chart.gif: cannot draw .gif":  func(o *options) { o.plot = "chart.gif" },
		`--setting: "2:1" is none of: 1:1; `:   func(o *options) { o.setting = "2:1" },
	} {
		o := options{duration: time.Second, repetitions: 5, rounds: 5, limit: 1.02, output: "table"}
		change(&o)
		if err := run(&o, io.Discard); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error is %v, want %s…", err, want)
		}
	}
}

func TestAWorkerRefusesWhatIsNoPlan(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := work(strings.NewReader("{"), &b); err == nil || !strings.HasPrefix(err.Error(), "reading the plan: ") || b.Len() > 0 {
		t.Errorf("error is %v, output %q", err, b.String())
	}
}
