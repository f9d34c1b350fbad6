package main

import (
	"strings"
	"testing"

	"loadline.dev/loadline/hack/experiments/job"
)

func TestWrongFlagsAreNamed(t *testing.T) {
	t.Parallel()
	good := options{repeat: 1, only: parts(), kinds: []string{"cpu"}, io: job.DiskWrite, seconds: 12, scale: 6, rounds: 10}
	if err := good.complete(nil); err != nil {
		t.Fatal(err)
	}
	for want, spoil := range map[string]func(*options){
		`--only: "all"`:       func(o *options) { o.only = []string{"all"} },
		`--kinds: "gpu"`:      func(o *options) { o.kinds = []string{"cpu", "gpu"} },
		`--kinds: "filecomp"`: func(o *options) { o.kinds = []string{"filecomp"} },
		"--repeat: 0":         func(o *options) { o.repeat = 0 },
		`--io: "tape"`:        func(o *options) { o.io = "tape" },
		"--seconds: 0.5":      func(o *options) { o.seconds = 0.5 },
		"--rounds: 1":         func(o *options) { o.rounds = 1 },
		"--scale: 0":          func(o *options) { o.scale = 0 },
	} {
		o := good
		spoil(&o)
		if err := o.complete(nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
