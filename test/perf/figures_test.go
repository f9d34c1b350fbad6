package perf

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// threePairs drifts: the machine becomes slower, the ratios stay near 0.97 and
// 1.05.
func threePairs() *Result {
	return &Result{Topic: "SchedulingBasic", Nodes: 5000, Pods: 10000, Pairs: []Pair{
		{Default: {400, 5, 0.01, 1, 0.9}, Added: {384, 5.2, 0.2, 1.1, 0.8}, Shipped: {424, 4.8, 0.19, 0.6, 0.7}},
		{Default: {200, 7, 0.03, 2, 0.5}, Added: {194, 7.2, 0.4, 2.2, 0}, Shipped: {210, 6.8, 0.38, 1.2, 0.6}},
		{Default: {100, 6, 0.02, 3, 0.4}, Added: {98, 6.2, 0.3, 3.3, 0}, Shipped: {104, 5.8, 0.29, 1.8, 0.9}},
	}}
}

func TestMedianRatioIsTakenOfRatiosWithinPairs(t *testing.T) {
	t.Parallel()
	r := threePairs()
	if got, want := r.MedianRatio(Added), 194.0/200; got != want {
		t.Errorf("added: got %v, want %v", got, want)
	}
	if got, want := r.MedianRatio(Shipped), 210.0/200; got != want {
		t.Errorf("shipped: got %v, want %v", got, want)
	}
}

func TestMedianRatioOfTwoPairsIsTheLowerOne(t *testing.T) {
	t.Parallel()
	r := threePairs()
	r.Pairs = r.Pairs[:2]
	if got, want := r.MedianRatio(Added), 384.0/400; got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestTablesShowEveryPairItsRatiosAndTheMedians(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	if err := threePairs().WriteTables(&b); err != nil {
		t.Fatal(err)
	}
	want := `
SchedulingBasic: pods scheduled per second, 10000 pods on 5000 nodes, every pod profiled
PAIR     DEFAULT   ADDED   RATIO   SHIPPED   RATIO
1          400.0   384.0   0.960     424.0   1.060
2          200.0   194.0   0.970     210.0   1.050
3          100.0    98.0   0.980     104.0   1.040
median     200.0   194.0   0.970     210.0   1.050

Milliseconds per pod, median of the pairs
TIME                       DEFAULT   ADDED            SHIPPED
processor, whole cluster     6.000   6.200    1.03×     5.800    0.97×
PreScore                     0.020   0.300   15.00×     0.290   14.50×
Score                        2.000   2.200    1.10×     1.200    0.60×

Placed by the scores of the pod before, median of the pairs: default 50.0 %, added 0.0 %, shipped 70.0 %
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestJSONHoldsThePairsAndTheMedianRatios(t *testing.T) {
	t.Parallel()
	r := threePairs()
	r.Pairs = r.Pairs[:1]
	got, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"medianProcessorRatio":{"added":1.04,"shipped":0.96},"medianRatio":{"added":0.96,"shipped":1.06},"nodes":5000,"pairs":[{` +
		`"added":{"podsPerSecond":384,"processorMillis":5.2,"preScoreMillis":0.2,"scoreMillis":1.1,"batched":0.8},` +
		`"default":{"podsPerSecond":400,"processorMillis":5,"preScoreMillis":0.01,"scoreMillis":1,"batched":0.9},` +
		`"shipped":{"podsPerSecond":424,"processorMillis":4.8,"preScoreMillis":0.19,"scoreMillis":0.6,"batched":0.7}}],"pods":10000,"topic":"SchedulingBasic"}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestTheTableOfTopicsHasTheMedianRatiosOfEach(t *testing.T) {
	t.Parallel()
	other := threePairs()
	other.Topic, other.Pairs = "Unschedulable", other.Pairs[:1]
	var b strings.Builder
	if err := (Results{threePairs(), other}).WriteTable(&b); err != nil {
		t.Fatal(err)
	}
	want := `
Ratios to the default, medians of the pairs
TOPIC             ADDED PODS/S   PROCESSOR   SHIPPED PODS/S   PROCESSOR
SchedulingBasic          0.970       1.033            1.050       0.967
Unschedulable            0.960       1.040            1.060       0.960
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
