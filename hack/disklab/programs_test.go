package main

import (
	"math"
	"strings"
	"testing"

	"loadline.dev/loadline/pkg/model/loading"
)

func TestEachMixOfProgramsIsOfSomeThatThereAre(t *testing.T) {
	t.Parallel()
	pairs, threes := 0, 0
	for _, m := range programMixes() {
		names := map[string]bool{}
		for _, s := range m.Jobs {
			names[s.Program] = true
			if err := s.validate(); err != nil || !s.usesDisk() || s.waits() {
				t.Errorf("%s: %s: %v", m.Name, s, err)
			}
		}
		switch {
		case len(names) != len(m.Jobs):
			t.Errorf("%s has a program twice", m.Name)
		case len(names) == 2:
			pairs++
		case len(names) == 3:
			threes++
		}
	}
	if pairs < 5 || threes < 3 || pairs+threes != len(togetherWith) {
		t.Errorf("%d pairs and %d threes", pairs, threes)
	}
	if err := (spec{Program: "nosuch"}).validate(); err == nil || !strings.Contains(err.Error(), `"nosuch"`) {
		t.Errorf("got %v", err)
	}
}

func TestTwoThatAreAlwaysAtTheDiskTakeTwiceAsLong(t *testing.T) {
	t.Parallel()
	one := loading.Vector{{Threads: 1}, {Loading: 1, Pressure: 1, Threads: 1}}
	got, err := predict([]loading.Vector{one, one}, 2)
	if err != nil || math.Abs(got[0]-2) > 1e-6 {
		t.Errorf("%v, %v", got, err)
	}
}

func TestFatesAreSummedUp(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	m := &mix{Name: "a b", Jobs: []spec{{Program: "database"}, {Program: "log"}}}
	err := showFates(&b, []fate{
		{mix: m, job: m.Jobs[0], truth: &truth{Dilation: 2, Culprit: 1}, observed: 1.8, predicted: 2.2, blamed: 1},
		{mix: m, job: m.Jobs[1], truth: &truth{Dilation: 1, Culprit: -1}, observed: 1, predicted: math.NaN(), blamed: -1},
		{mix: m, job: spec{Operation: read, Bytes: unit}, truth: &truth{Dilation: 2, Culprit: 0, Without: []float64{100, 98}}, observed: 1, blamed: 1, predicted: 1},
	})
	for _, want := range []string{
		"programs. Observed: 2 off by 5 % on average, 10 % in the median, 10 % at worst. Predicted by the vectors alone: 1 off by 10 % on average, " +
			"10 % in the median, 10 % at worst. Of 1 that are slowed by 1.2 or more, the culprit is blamed first for 1.\n",
		"reads. Observed: 1 off by 50 % on average, 50 % in the median, 50 % at worst. Predicted by the vectors alone: 1 off by 50 % on average, " +
			"50 % in the median, 50 % at worst. Of 1 that are slowed by 1.2 or more, the culprit is blamed first for 1.\n",
	} {
		if err != nil || !strings.Contains(b.String(), want) {
			t.Errorf("%v: %q is not in\n%s", err, want, b.String())
		}
	}
	if strings.Contains(b.String(), "durable") {
		t.Errorf("there is none of them:\n%s", b.String())
	}
}
