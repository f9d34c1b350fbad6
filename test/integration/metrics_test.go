package integration

import (
	"strconv"
	"strings"
	"testing"

	"loadline.dev/loadline/hack/local"
)

// metricsOf returns the metrics of a process, by series as they are written.
func metricsOf(t *testing.T, process *local.Process) map[string]float64 {
	t.Helper()
	text, err := process.Get(t.Context(), "/metrics")
	must(t, err)
	metrics := map[string]float64{}
	for line := range strings.Lines(text) {
		i := strings.LastIndexByte(line, ' ')
		if i < 0 || strings.HasPrefix(line, "#") {
			continue
		}
		value, err := strconv.ParseFloat(strings.TrimSpace(line[i:]), 64)
		must(t, err)
		metrics[line[:i]] = value
	}
	return metrics
}

// attemptsOf returns how many attempts to place a pod a scheduler has made, by result.
func attemptsOf(t *testing.T, process *local.Process) map[string]float64 {
	t.Helper()
	attempts := map[string]float64{}
	for series, value := range metricsOf(t, process) {
		if labels, is := strings.CutPrefix(series, "scheduler_schedule_attempts_total{"); is {
			_, rest, _ := strings.Cut(labels, `result="`)
			result, _, _ := strings.Cut(rest, `"`)
			attempts[result] += value
		}
	}
	return attempts
}
