package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadline.dev/loadline/hack/recording"
	"loadline.dev/loadline/pkg/model/inflation"
)

func TestCasesAreTheSameForASeedAndThrashersAreThereAtTheEnd(t *testing.T) {
	t.Parallel()
	o := &options{thrashers: 3, loads: 5, seed: 7}
	cases := draw(o)
	if diff := cmp.Diff(cases, draw(o), cmp.AllowUnexported(aCase{})); diff != "" || len(cases) != 8 {
		t.Errorf("%d cases, which differ (-first +second):\n%s", len(cases), diff)
	}
	for _, c := range cases {
		if len(c.rates) != len(c.spins) || len(c.rates) != len(c.thrashes) {
			t.Errorf("%s: %d rates, %d and %d slots", c.Name, len(c.rates), len(c.spins), len(c.thrashes))
		}
		there := map[bool]int{}
		for k, is := range c.thrashes {
			there[is]++
			if k >= len(c.thrashes)-inflation.Recent && is != c.Thrashes {
				t.Errorf("%s: the thrasher is there in slot %d: %v", c.Name, k, is)
			}
			if !(c.rates[k] > 0) {
				t.Errorf("%s: %v requests a second", c.Name, c.rates[k])
			}
		}
		if c.Thrashes != (there[true] > 0) || there[false] < len(c.thrashes)/4 {
			t.Errorf("%s: the thrasher is there in %d slots and away in %d", c.Name, there[true], there[false])
		}
	}
}

func TestAPieceOfWorkGoesOverAllOfItsMemory(t *testing.T) {
	t.Parallel()
	p := newPiece(64 << 10)
	seen := map[uint32]bool{}
	for at := uint32(0); !seen[at]; at = p.next[at].next {
		seen[at] = true
	}
	if len(seen) != 1024 {
		t.Errorf("it goes over %d lines", len(seen))
	}
}

func TestAnOutcomeIsRightWhereThoseAreNamedThatSlowThePieceOfWork(t *testing.T) {
	t.Parallel()
	// of is a case in which the thrasher comes and goes, and adds as much to the piece of work.
	of := func(adds float64, named ...int) outcome {
		o := outcome{estimate: &inflation.Estimate{Inflation: inflation.Value{Value: 1 + adds}}}
		o.Thrashes = true
		for k := range 20 {
			there := float64(k / 5 % 2)
			o.Series = append(o.Series, inflation.Interval{Slot: int64(k), Neighbours: []float64{0.2, 0, there}})
			o.Pieces = append(o.Pieces, 0.001*(1+adds*there))
		}
		for _, n := range named {
			o.estimate.Effects = append(o.estimate.Effects, inflation.Effect{Neighbours: []int{n}, Named: true})
		}
		return o
	}
	tests := map[string]struct {
		outcome
		right bool
	}{
		"named":                          {of(0.25, thrasher), true},
		"not named":                      {of(0.25), false},
		"the client, too":                {of(0.25, thrasher, client), false},
		"it slows nothing":               {of(0.001), true},
		"it slows nothing, and is named": {of(0.001, thrasher), false},
		"it slows a little":              {of(0.03, thrasher), true},
		"another one":                    {of(0.25, thrasher, spinner), false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := test.outcome.right(); got != test.right {
				t.Errorf("got %v", got)
			}
		})
	}
}

func TestOutcomesAreKeptAndSummedUp(t *testing.T) {
	t.Parallel()
	var all []outcome
	for _, c := range draw(&options{loads: 1, thrashers: 1, seed: 3}) {
		o := outcome{aCase: *c}
		for k := range c.rates {
			cpu, piece := 0.004*c.rates[k], 0.001
			neighbours := []float64{0.1, 0, 0}
			if c.thrashes[k] {
				neighbours[thrasher], cpu, piece = 1, 1.2*cpu, 1.2*piece
			}
			o.Series = append(o.Series, inflation.Interval{Slot: int64(k), Seconds: 1, CPU: cpu, Units: c.rates[k], Neighbours: neighbours})
			o.Pieces = append(o.Pieces, piece)
		}
		all = append(all, o)
	}
	path := filepath.Join(t.TempDir(), "recording.json.gz")
	if err := recording.Save(path, all); err != nil {
		t.Fatal(err)
	}
	read, err := load(path)
	if err != nil {
		t.Fatal(err)
	}
	var shown strings.Builder
	if err := show(&shown, read); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"loads that rise or fall: 1 case; neighbours named rightly in 1; inflation within 5 % in 1, off by 0.0 % at worst; not known in 0",
		"thrashers: 1 case; neighbours named rightly in 1; inflation within 5 % in 1, off by 0.0 % at worst; not known in 0",
	} {
		if !strings.Contains(shown.String(), want) {
			t.Errorf("%q is not in\n%s", want, shown.String())
		}
	}
}
