package observation

import (
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"loadline.dev/loadline/pkg/evaluate/observations"
	"loadline.dev/loadline/pkg/gauge/collect"
	"loadline.dev/loadline/pkg/gauge/usage"
)

func TestMetricsShowHowCollectingGoesAndHowWellDilationsArePredicted(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewPedanticRegistry()
	m := NewMetrics(registry)
	m.collected(&collect.Round{Gauges: 5, Asked: 4, Failed: 1, Intervals: 9, Took: 3 * time.Second})
	m.collected(&collect.Round{Gauges: 5, Asked: 5, Intervals: 15, Refused: []usage.Refusal{{Node: "worker-1", Reason: "it lies"}}, Took: 2 * time.Second})
	m.predicted(&observations.Prediction{Predicted: 2, Observed: 1.6})
	m.predicted(&observations.Prediction{Predicted: 1, Observed: 2})
	want := `
# HELP loadline_collection_duration_seconds How long it took to ask all gauges, the last time.
# TYPE loadline_collection_duration_seconds gauge
loadline_collection_duration_seconds 2
# HELP loadline_collection_intervals_total How many intervals gauges handed on.
# TYPE loadline_collection_intervals_total counter
loadline_collection_intervals_total 24
# HELP loadline_collection_refused_targets How many gauges answered last what is refused, because it breaks the rules of reports or is too large. kubectl loadline status names their nodes.
# TYPE loadline_collection_refused_targets gauge
loadline_collection_refused_targets 1
# HELP loadline_collection_requests_total How many times gauges were asked what they observed, by outcome: answered or failed.
# TYPE loadline_collection_requests_total counter
loadline_collection_requests_total{outcome="answered"} 8
loadline_collection_requests_total{outcome="failed"} 1
# HELP loadline_collection_targets How many gauges there are to ask what they observed.
# TYPE loadline_collection_targets gauge
loadline_collection_targets 5
`
	names := []string{
		"loadline_collection_duration_seconds", "loadline_collection_intervals_total", "loadline_collection_requests_total", "loadline_collection_targets",
		"loadline_collection_refused_targets",
	}
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want), names...); err != nil {
		t.Error(err)
	}
	for direction, want := range map[string]float64{"high": 0.25, "low": 0.5} {
		if got := sumOf(t, registry, direction); got != want {
			t.Errorf("the sum of the errors that are too %s is %v, not %v", direction, got, want)
		}
	}
}

// sumOf returns the sum of the errors of a direction.
func sumOf(t *testing.T, registry *prometheus.Registry, direction string) float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() != "loadline_prediction_relative_error" {
			continue
		}
		for _, m := range family.GetMetric() {
			if m.GetLabel()[0].GetValue() == direction {
				return m.GetHistogram().GetSampleSum()
			}
		}
	}
	return -1
}
