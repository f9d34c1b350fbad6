package integration

import (
	"context"
	"crypto/tls"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

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

// checkAttempts waits until a scheduler counts as many pods as it has placed, which it does a moment after they are bound, and reports
// those counts that are not one attempt for each.
func checkAttempts(t *testing.T, process *local.Process, placed int) {
	t.Helper()
	var attempts map[string]float64
	err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		attempts = attemptsOf(t, process)
		return attempts["scheduled"] >= float64(placed), nil
	})
	if err != nil || attempts["scheduled"] != float64(placed) || attempts["error"] != 0 {
		t.Errorf("the scheduler tried pods %v, want %d once each: %v", attempts, placed, err)
	}
}

func TestTheManagersMetricsAreForThoseWhoMayReadThem(t *testing.T) {
	t.Parallel()
	p := shared.newPlace(t, 0)
	p.applyRoles(t, "rbac/role.yaml", "rbac/metrics-reader.yaml")
	self, reader, other := p.account(t, "manager", "loadline-manager"), p.account(t, "reader", "loadline-metrics-reader"), p.account(t, "other")
	kubeconfig, port := p.kubeconfigOf(t, self), ""
	process, err := local.OnFreePort(t.Context(), func(free string) (*local.Process, error) {
		port = free
		return local.StartManager(t.Context(), manager, kubeconfig, "--metrics-bind-address", "127.0.0.1:"+port)
	})
	must(t, err)
	stopManager(t, process)
	insecure := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	t.Cleanup(insecure.CloseIdleConnections)
	for _, test := range []struct {
		who, token string
		status     int
		want       string
	}{
		{"a reader", p.token(t, reader), http.StatusOK, `loadline_connections_closed_total{port="metrics",reason="refused"} 0`},
		{"one without the right", p.token(t, other), http.StatusForbidden, "may not get the non-resource URL /metrics"},
		{"one with a wrong token", p.token(t, reader) + "x", http.StatusUnauthorized, "the token is not valid"},
		{"one without a token", "", http.StatusUnauthorized, "no token"},
		{"a reader, later", p.token(t, reader), http.StatusOK, `loadline_connections_closed_total{port="metrics",reason="refused"} 3`},
	} {
		header := ""
		if test.token != "" {
			header = "Bearer " + test.token
		}
		status, body := send(t, insecure, "https://127.0.0.1:"+port+"/metrics", "Authorization", header)
		if status != test.status || !strings.Contains(body, test.want) {
			t.Errorf("%s gets %d %.300s, want %d with %q", test.who, status, body, test.status, test.want)
		}
	}
}
