package main

import (
	"bytes"
	"fmt"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// gauged are the metrics whose values are sampled, each by what it is called. Of several series of one metric the sum is taken.
var gauged = map[string]string{
	"go_goroutines":                     "goroutines",
	"go_memstats_heap_alloc_bytes":      "heap",
	"go_gc_heap_live_bytes":             "heap that was live at the last collection",
	"go_memstats_heap_objects":          "heap objects",
	"go_memstats_next_gc_bytes":         "heap at the next collection",
	"workqueue_depth":                   "work queues",
	"workqueue_unfinished_work_seconds": "unfinished work",
	"scheduler_pending_pods":            "pending pods",
	"loadline_dilation_waiting_pods":    "waiting pods",
	"loadline_collection_targets":       "gauges asked",
}

// readMetrics returns what is sampled of the metrics of a program: values of gauges, and how many series there are, in all and of Loadline.
func readMetrics(text []byte) (map[string]float64, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("metrics: %w", err)
	}
	values := map[string]float64{}
	for family, f := range families {
		n := float64(series(f))
		values["series"] += n
		if strings.HasPrefix(family, "loadline_") {
			values["series of Loadline"] += n
		}
		what := gauged[family]
		if what == "" {
			continue
		}
		values[what] += 0
		for _, m := range f.GetMetric() {
			values[what] += m.GetGauge().GetValue() + m.GetUntyped().GetValue()
		}
	}
	return values, nil
}

// series returns how many time series a family is: of a histogram a bucket each, its sum and its count.
func series(f *dto.MetricFamily) int {
	n := 0
	for _, m := range f.GetMetric() {
		switch {
		case m.GetHistogram() != nil:
			n += len(m.GetHistogram().GetBucket()) + 2
		case m.GetSummary() != nil:
			n += len(m.GetSummary().GetQuantile()) + 2
		default:
			n++
		}
	}
	return n
}

// storageSize returns how large the database is that the API server keeps objects in, by its metrics; 0 where these do not say.
func storageSize(text []byte) float64 {
	var size float64
	for line := range bytes.Lines(text) {
		if bytes.HasPrefix(line, []byte("apiserver_storage_size_bytes{")) {
			_, value, _ := strings.Cut(string(line), "} ")
			_, _ = fmt.Sscan(value, &size) // what is no number leaves 0, which is not sampled
		}
	}
	return size
}
