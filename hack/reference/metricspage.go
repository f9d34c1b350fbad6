package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"loadline.dev/loadline/hack/reference/markdown"
)

// ours begins the names of our metrics.
const ours = "loadline_"

// Metrics of controller-runtime and kube-scheduler that the page lists.
var (
	runtimeMetrics = []string{
		"controller_runtime_reconcile_total", "controller_runtime_reconcile_errors_total", "controller_runtime_reconcile_panics_total",
		"controller_runtime_reconcile_time_seconds", "controller_runtime_active_workers",
		"workqueue_depth", "workqueue_queue_duration_seconds", "workqueue_longest_running_processor_seconds", "workqueue_retries_total",
		"rest_client_requests_total", "leader_election_master_status",
	}
	kubeSchedulerMetrics = []string{
		"scheduler_schedule_attempts_total", "scheduler_scheduling_attempt_duration_seconds", "scheduler_pod_scheduling_sli_duration_seconds",
		"scheduler_pending_pods", "scheduler_unschedulable_pods", "scheduler_framework_extension_point_duration_seconds",
		"scheduler_plugin_execution_duration_seconds", "scheduler_plugin_evaluation_total", "scheduler_batch_attempts_total",
		"rest_client_requests_total", "leader_election_master_status",
	}
)

// addMetrics adds the page of the metrics.
func (b book) addMetrics() error {
	manager, err := managerMetrics()
	if err != nil {
		return fmt.Errorf("the metrics of loadline-manager: %w", err)
	}
	scheduler, err := schedulerMetrics()
	if err != nil {
		return fmt.Errorf("the metrics of loadline-scheduler: %w", err)
	}
	gauge, err := gaugeMetrics()
	if err != nil {
		return fmt.Errorf("the metrics of loadline-gauge: %w", err)
	}
	servers, err := serverMetrics()
	if err != nil {
		return fmt.Errorf("the metrics of ports: %w", err)
	}
	page := markdown.NewPage("Metrics")
	page.Add(
		"What the programs tell Prometheus. [Observe Loadline](../observability.md) says how to scrape and show it, [Alerts](alerts.md) what to do when it is out of line.",
		markdown.Table([]string{"Program", "Where"},
			[]string{"`loadline-manager`", "`https://POD:8080/metrics` (`--metrics-bind-address`), for those who may `get` the non-resource URL `/metrics`; with `--metrics-secure=false` by HTTP, for all who get there"},
			[]string{"`loadline-scheduler`", "`https://POD:10259/metrics` (`--secure-port`), for the same"},
			[]string{"`loadline-gauge`", "`https://POD:8443/metrics` (`--bind-address`), for the same"},
		),
		"`kubectl loadline` and `loadline-probe` serve no metrics. A time series with labels is there once something has happened to tell of: `loadline_pool_scalings_total` after the first scaling.",
	)
	tables := []struct {
		title, about string
		from         map[string]metric
		names        []string
	}{
		{"loadline-manager", "", manager, oursOf(manager)},
		{
			"loadline-manager: controller-runtime",
			"The manager serves those of [controller-runtime](https://book.kubebuilder.io/reference/metrics-reference) too, and those of Go and its process (`go_*`, `process_*`). These are useful with Loadline:",
			manager, runtimeMetrics,
		},
		{"loadline-scheduler", "", scheduler, oursOf(scheduler)},
		{
			"loadline-scheduler: kube-scheduler",
			"The scheduler serves [all metrics of kube-scheduler](https://kubernetes.io/docs/reference/instrumentation/metrics/) too. These are useful with Loadline; `plugin=\"Dilation\"` is ours:",
			scheduler, kubeSchedulerMetrics,
		},
		{
			"loadline-gauge",
			"Those of a pod have its namespace and its name, which the labels `namespace` and `pod` of the scrape must not replace (`honorLabels`). [How gauges know](../who.md#how-it-knows) says what they count. It serves those of Go and its process (`go_*`, `process_*`) too.",
			gauge, oursOf(gauge),
		},
		{
			"loadline-manager and loadline-gauge",
			"Of each port that they serve, `https`, `health` and, of the manager, `metrics`:",
			servers, oursOf(servers),
		},
	}
	var errs []error
	for _, t := range tables {
		page.Heading(2, t.title, markdown.Slug(t.title))
		table, err := metricTable(t.from, t.names)
		errs = append(errs, err)
		page.Add(t.about, table)
	}
	page.Heading(2, "Stability", "stability")
	page.Add(stabilityNotes)
	b.add("metrics.md", page)
	return errors.Join(errs...)
}

const stabilityNotes = "Metrics of Loadline are `ALPHA` in the terms of " +
	"[Kubernetes](https://kubernetes.io/docs/concepts/cluster-administration/system-metrics/): as long as the API is `v1alpha1`, a minor version may rename one or change its labels. " +
	"Those of others are as stable as their projects say; where one does, the level stands beside its type."

// oursOf returns the names of our metrics, sorted.
func oursOf(found map[string]metric) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(found)), func(name string) bool { return !strings.HasPrefix(name, ours) })
}

// metricTable lists metrics by name. It fails if one is not there, or does not say
// what it tells.
func metricTable(found map[string]metric, names []string) (string, error) {
	var rows [][]string
	var errs []error
	for _, name := range names {
		m, ok := found[name]
		switch {
		case !ok:
			errs = append(errs, fmt.Errorf("%s: there is no such metric", name))
		case m.help == "":
			errs = append(errs, fmt.Errorf("%s: the metric does not say what it tells: set Help", name))
		case m.kind == "":
			errs = append(errs, fmt.Errorf("%s: the type of the metric is not known", name))
		}
		id := markdown.Code(m.name)
		if strings.HasPrefix(m.name, ours) {
			id = markdown.Anchor(m.name) + id
		}
		rows = append(rows, []string{id, m.typeText(), codes(m.labels), markdown.Cell(sentence(m.help))})
	}
	return markdown.Table([]string{"Metric", "Type", "Labels", "What it tells"}, rows...), errors.Join(errs...)
}

// typeText is the type with what more is known of it.
func (m *metric) typeText() string {
	text := m.kind
	if m.stability != "" {
		text += ", " + m.stability
	}
	if n := len(m.buckets); n > 0 && strings.HasSuffix(m.name, "_seconds") {
		text += fmt.Sprintf(", %d buckets from %s to %s", n, bound(m.buckets[0]), bound(m.buckets[n-1]))
	}
	return text
}

// bound shows a number of seconds.
func bound(seconds float64) string {
	number, unit := seconds, "s"
	switch {
	case seconds >= 3600:
		number, unit = seconds/3600, "h"
	case seconds >= 60:
		number, unit = seconds/60, "min"
	}
	return strconv.FormatFloat(number, 'g', 3, 64) + " " + unit
}
