package perf

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// threePairs drifts: the machine becomes slower, the ratios of the throughput stay near 0.97 and 1.05.
func threePairs() *Result {
	of := func(podsPerSecond, processor, scheduler, loadline float64) *Figures {
		return &Figures{
			Nodes: 5000, Pods: 10000, PodsPerSecond: podsPerSecond, ProcessorMillis: processor, SchedulerMillis: scheduler, LoadlineMillis: loadline,
			CollectionMillis: 0.5, SamplingError: 0.03, ScoreMillis: 1, Batched: 0.125,
		}
	}
	return &Result{Topic: "SchedulingBasic", Of: "Kubernetes v1.37.2, 2026-11-30", Pairs: []Pair{
		{Default: of(400, 4, 1, 0), Added: of(384, 4.4, 1.25, 0.25), Shipped: of(424, 3, 0.5, 0.125)},
		{Default: of(200, 8, 2, 0), Added: of(194, 8.4, 2.25, 0.25), Shipped: of(210, 7, 1.25, 0.125)},
		{Default: of(100, 6, 1, 0), Added: of(98, 6.2, 1, 0.25), Shipped: of(104, 5, 0.75, 0.125)},
	}}
}

func TestVariantsAreFoundByTheirNamesBesideTheDefault(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		names []string
		want  []Variant
	}{
		{nil, []Variant{Default, Added, Shipped}},
		{[]string{"shipped"}, []Variant{Default, Shipped}},
		{[]string{"default", "added"}, []Variant{Default, Added}},
	} {
		if got, err := FindVariants(c.names); err != nil || !cmp.Equal(got, c.want) {
			t.Errorf("%q: got %v, %v, want %v", c.names, got, err, c.want)
		}
	}
	if _, err := FindVariants([]string{"shipping"}); err == nil || !strings.Contains(err.Error(), `"shipping" is not one of [default added shipped]`) {
		t.Errorf("got %v", err)
	}
}

func TestARatioIsTakenWithinEachPair(t *testing.T) {
	t.Parallel()
	r := threePairs()
	for _, c := range []struct {
		variant Variant
		figure  figure
		want    Spread
	}{
		{Added, podsPerSecond, Spread{Median: 194.0 / 200, Min: 384.0 / 400, Max: 98.0 / 100}},
		{Shipped, podsPerSecond, Spread{Median: 210.0 / 200, Min: 104.0 / 100, Max: 424.0 / 400}},
		{Shipped, processorMillis, Spread{Median: 5.0 / 6, Min: 3.0 / 4, Max: 7.0 / 8}},
		{Added, schedulerMillis, Spread{Median: 2.25 / 2, Min: 1, Max: 1.25}},
	} {
		if got, is := r.ratio(c.variant, c.figure); !is || got != c.want {
			t.Errorf("%s of %s: got %v, want %v", c.figure.name, c.variant, got, c.want)
		}
	}
}

func TestThereIsNoRatioToNothing(t *testing.T) {
	t.Parallel()
	r := threePairs()
	r.Pairs[1][Default].SchedulerMillis = 0
	if got, is := r.ratio(Shipped, schedulerMillis); is {
		t.Errorf("got %v", got)
	}
}

func TestTheMedianOfTwoIsTheLowerOne(t *testing.T) {
	t.Parallel()
	if got, want := spreadOf([]float64{3, 2}), (Spread{Median: 2, Min: 2, Max: 3}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestTheSchedulersTimeIsByItsShareOfTheSamples(t *testing.T) {
	t.Parallel()
	f := Figures{ProcessorMillis: 8}
	f.split(Split{Loadline: 0.125, Scheduler: 0.375, Collection: 0.25, Rest: 0.25, Samples: 100})
	if want := (Figures{ProcessorMillis: 8, SchedulerMillis: 4, LoadlineMillis: 1, CollectionMillis: 2, SamplingError: 0.1}); f != want {
		t.Errorf("got %+v, want %+v", f, want)
	}
}

func TestTheTableHasMediansAndTheRatiosWithTheirRanges(t *testing.T) {
	t.Parallel()
	r := threePairs()
	for _, p := range r.Pairs {
		delete(p, Added)
	}
	var b strings.Builder
	if err := r.WriteTable(&b); err != nil {
		t.Fatal(err)
	}
	want := `
SchedulingBasic: 10000 pods on 5000 nodes, every pod profiled; medians, and ranges of the ratios, of 3 pairs
FIGURE                      default   shipped   RATIO            RANGE
pods per second                 200       210   1.050   1.040 to 1.060
processor, ms per pod             6         5   0.833   0.750 to 0.875
- scheduler                       1     0.750   0.625   0.500 to 0.750
  - of it Loadline                0     0.125
- garbage collection          0.500     0.500   1.000   1.000 to 1.000
- API server, clients         4.500     3.750   0.833   0.800 to 0.955
PreScore, ms by the clock         0         0
Score, ms by the clock            1         1   1.000   1.000 to 1.000
attempts without a node           0         0
nodes solved                      0         0
batched, %                     12.5      12.5
Sampling alone moves one ratio of the scheduler's time, shipped, by ± 4.2 % (one standard error).
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestJSONHoldsThePairsAndTheRatios(t *testing.T) {
	t.Parallel()
	r := threePairs()
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var read Result
	if err := json.Unmarshal(data, &read); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r, &read); diff != "" {
		t.Errorf("(-written +read)\n%s", diff)
	}
	var ratios struct{ Ratios map[Variant]map[string]Spread }
	if err := json.Unmarshal(data, &ratios); err != nil {
		t.Fatal(err)
	}
	if got, want := ratios.Ratios[Shipped]["schedulerMillis"], (Spread{Median: 0.625, Min: 0.5, Max: 0.75}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	if _, is := ratios.Ratios[Added]["preScoreMillis"]; is {
		t.Error("there is a ratio to nothing")
	}
}

func TestANewerResultTakesThePlaceOfThatOfTheSameTopic(t *testing.T) {
	t.Parallel()
	older, other, newer, another := threePairs(), threePairs(), threePairs(), threePairs()
	other.Topic, another.Topic, newer.Of = "Unschedulable", "PreemptionBasic", "Kubernetes v1.38.0, 2027-04-01"
	got := Results{older, other}.Merged(Results{newer, another})
	if diff := cmp.Diff(Results{newer, other, another}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestTheTableOfTopicsHasALineForEachVariant(t *testing.T) {
	t.Parallel()
	other := threePairs()
	other.Topic, other.Pairs = "Unschedulable", other.Pairs[:1]
	delete(other.Pairs[0], Added)
	var b strings.Builder
	if err := (Results{threePairs(), other}).WriteTable(&b); err != nil {
		t.Fatal(err)
	}
	want := `
Ratios to the default: medians of the pairs, and ranges
TOPIC             VARIANT   PAIRS   PODS/S            RANGE   PROCESSOR            RANGE   SCHEDULER            RANGE
SchedulingBasic   added         3    0.970   0.960 to 0.980       1.050   1.033 to 1.100       1.125   1.000 to 1.250
SchedulingBasic   shipped       3    1.050   1.040 to 1.060       0.833   0.750 to 0.875       0.625   0.500 to 0.750
Unschedulable     shipped       1    1.060   1.060 to 1.060       0.750   0.750 to 0.750       0.500   0.500 to 0.500
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
