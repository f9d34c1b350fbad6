package main

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"loadline.dev/loadline/hack/recording"
	"loadline.dev/loadline/pkg/model/inflation"
	"loadline.dev/loadline/pkg/text"
)

// neighbours are the processes beside the server, in the order of [inflation.Interval.Neighbours].
var neighbours = []string{"client", "spinner", "thrasher"}

// Their numbers.
const (
	client = iota
	spinner
	thrasher
)

// aCase is what happens in a case, slot by slot.
type aCase struct {
	Name string `json:"name"`
	// SetBytes is the memory that a request of the server goes over.
	SetBytes int `json:"setBytes"`
	// rates are the requests of each slot, for each second; spins and thrashes say in which the neighbours run.
	rates           []float64
	spins, thrashes []bool
	// Thrashes reports whether the thrasher comes and goes.
	Thrashes bool `json:"thrashes,omitempty"`
}

// outcome is what came of a case.
type outcome struct {
	aCase

	// Series is what was measured, without the slots of which the hypervisor took more than the manager heeds.
	Series []inflation.Interval `json:"series"`
	// Pieces are the seconds that the fixed piece of work took in each of these slots, 0 where it was not done.
	Pieces []float64 `json:"pieces"`

	estimate *inflation.Estimate
	err      error
}

// judge sets what is said of the series.
func (o *outcome) judge() { o.estimate, o.err = inflation.Analyze(o.Series) }

// reference returns how many times as long the fixed piece of work took in the last slots as it does without the thrasher.
func (o *outcome) reference() float64 {
	_, without := o.pieces(thrasher)
	var now []float64
	for _, seconds := range o.Pieces[max(0, len(o.Pieces)-inflation.Recent):] {
		if seconds > 0 {
			now = append(now, seconds)
		}
	}
	return stat.Mean(now, nil) / median(without)
}

// effect returns what a neighbour that comes and goes adds to the time of the fixed piece of work.
func (o *outcome) effect(neighbour int) float64 {
	with, without := o.pieces(neighbour)
	if len(with) == 0 {
		return 0
	}
	return median(with)/median(without) - 1
}

// pieces returns the times of the fixed piece of work in slots with a neighbour, and without.
func (o *outcome) pieces(neighbour int) (with, without []float64) {
	const there, away = 0.5, 0.05 // processors
	for i, seconds := range o.Pieces {
		switch n := o.Series[i].Neighbours[neighbour]; {
		case seconds == 0:
		case n >= there:
			with = append(with, seconds)
		case n <= away:
			without = append(without, seconds)
		}
	}
	return with, without
}

// load reads outcomes, and judges them.
func load(path string) (outcomes []outcome, err error) {
	if err := recording.Load(path, &outcomes); err != nil {
		return nil, err
	}
	for i := range outcomes {
		o := &outcomes[i]
		if len(o.Pieces) != len(o.Series) {
			return nil, fmt.Errorf("%s: case %d (%s): %d pieces of %d slots", path, i, o.Name, len(o.Pieces), len(o.Series))
		}
		o.judge()
	}
	return outcomes, nil
}

// median returns that of some values, NaN of none.
func median(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	return stat.Quantile(0.5, stat.LinInterp, slices.Sorted(slices.Values(values)), nil)
}

// Lengths of cases, in slots: that of a load is the shortest in which a neighbour may be named, twice.
const (
	loadSlots   = 2 * inflation.MinTested
	thrashSlots = 4 * inflation.MinTested
)

// draw draws the cases.
func draw(o *options) (cases []*aCase) {
	sets := []int{1 << 20, 4 << 20, 16 << 20}
	for i := range o.loads {
		random := rand.New(rand.NewPCG(o.seed, uint64(i)))
		c := &aCase{Name: fmt.Sprintf("load %d", i+1), SetBytes: sets[i%len(sets)], thrashes: make([]bool, loadSlots)}
		c.spins = episodes(random, loadSlots)
		c.rates = loads[i%len(loads)](loadSlots)
		cases = append(cases, c)
	}
	for i := range o.thrashers {
		random := rand.New(rand.NewPCG(o.seed+1, uint64(i)))
		c := &aCase{Name: fmt.Sprintf("thrasher %d", i+1), SetBytes: sets[i%len(sets)], Thrashes: true}
		c.spins, c.thrashes = episodes(random, thrashSlots), episodes(random, thrashSlots)
		for k := thrashSlots - 2*inflation.Recent; k < thrashSlots; k++ {
			c.thrashes[k] = true // now
		}
		c.rates = loads[i%len(loads)](thrashSlots)
		cases = append(cases, c)
	}
	return cases
}

// loads are courses of the load, in requests a second: it rises at once, slowly, falls, comes in waves, and stays.
var loads = []func(slots int) []float64{
	course(func(at float64) float64 { return 60 + 120*math.Round(at) }),
	course(func(at float64) float64 { return 60 + 120*at }),
	course(func(at float64) float64 { return 180 - 120*at }),
	course(func(at float64) float64 { return 110 + 60*math.Sin(8*math.Pi*at) }),
	course(func(float64) float64 { return 120 }),
}

// course returns a rate for each slot, given one for each part of the time.
func course(rate func(at float64) float64) func(int) []float64 {
	return func(slots int) []float64 {
		rates := make([]float64, slots)
		for k := range rates {
			rates[k] = rate(float64(k) / float64(slots))
		}
		return rates
	}
}

// episodes draws slots in which a neighbour is there: it comes and goes after 5 to 15 slots.
func episodes(random *rand.Rand, slots int) []bool {
	there := make([]bool, 0, slots)
	for is := random.IntN(2) == 1; len(there) < slots; is = !is {
		for range 5 + random.IntN(11) {
			there = append(there, is)
		}
	}
	return there[:slots]
}

// named returns the names of the neighbours that an estimate names.
func named(e *inflation.Estimate) (names []string) {
	for i := range e.Effects {
		if f := &e.Effects[i]; f.Named {
			for _, n := range f.Neighbours {
				names = append(names, neighbours[n])
			}
		}
	}
	slices.Sort(names)
	return names
}

// The effects on the fixed piece of work below which a neighbour must not be named, and from which on it must.
const mayNot, must = inflation.Noticeable / 2, 2 * inflation.Noticeable

// right reports whether those are named that slow the fixed piece of work, and no other. The clients come with the load: they are never to be.
func (o *outcome) right() bool {
	names := named(o.estimate)
	for _, n := range []int{spinner, thrasher} {
		is, effect := slices.Contains(names, neighbours[n]), o.effect(n)
		if is && effect < mayNot || !is && effect >= must {
			return false
		}
	}
	return !slices.Contains(names, neighbours[client])
}

// off returns by which part the inflation differs from the reference.
func (o *outcome) off() float64 { return math.Abs(o.estimate.Inflation.Value/o.reference() - 1) }

// show writes what came of the cases.
func show(w io.Writer, outcomes []outcome) error {
	t := text.NewTable(text.Left("CASE"), text.Right("SET"), text.Right("REQUEST"), text.Right("INFLATION"), text.Right("INTERVAL"), text.Right("REFERENCE"),
		text.Right("OFF"), text.Right("SPINNER ADDS"), text.Right("THRASHER ADDS"), text.Left("NAMED"))
	for i := range outcomes {
		o := &outcomes[i]
		set := fmt.Sprintf("%d MiB", o.SetBytes>>20)
		if o.err != nil {
			t.Add(o.Name, set, o.err.Error())
			continue
		}
		e := o.estimate
		t.Add(o.Name, set, fmt.Sprintf("%.2f ms", 1000*e.Quiet.Value), fmt.Sprintf("%.3f", e.Inflation.Value),
			fmt.Sprintf("%.3f to %.3f", e.Inflation.Low, e.Inflation.High), fmt.Sprintf("%.3f", o.reference()), percent(o.off()),
			added(o.effect(spinner)), added(o.effect(thrasher)), strings.Join(named(e), " "))
	}
	if err := t.Write(w); err != nil {
		return err
	}
	for _, line := range summary(outcomes) {
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	return nil
}

// summary says how many cases were judged rightly.
func summary(outcomes []outcome) (lines []string) {
	for _, kind := range []struct {
		name    string
		present bool
	}{{"loads that rise or fall", false}, {"thrashers", true}} {
		all, failed, right, within, worst := 0, 0, 0, 0, 0.0
		for i := range outcomes {
			o := &outcomes[i]
			switch {
			case o.Thrashes != kind.present:
				continue
			case o.err != nil:
				failed++
				continue
			}
			all++
			if o.right() {
				right++
			}
			if o.off() <= 0.05 {
				within++
			}
			worst = max(worst, o.off())
		}
		if all+failed > 0 {
			lines = append(lines, fmt.Sprintf("%s: %s; neighbours named rightly in %d; inflation within 5 %% in %d, off by %s at worst; not known in %d",
				kind.name, text.Counted(all+failed, "case"), right, within, percent(worst), failed))
		}
	}
	return lines
}

// percent writes a part to a tenth of a per cent.
func percent(part float64) string { return fmt.Sprintf("%.1f %%", 100*part) }

// added writes what is added, or less.
func added(part float64) string { return fmt.Sprintf("%+.2f", part) }
