package server

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"loadline.dev/loadline/pkg/gauge/usage"
)

func TestAGaugeIsReadyWhileItsNewestIntervalIsNotStale(t *testing.T) {
	t.Parallel()
	g := newGauge(t, 0)
	g.Handler = NewHealthHandler(Fresh(g.kept, period))
	ready := func(status int, want string) {
		t.Helper()
		if w := g.get(t, "/readyz"); w.Code != status || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%d %q, want %d with %q", w.Code, w.Body, status, want)
		}
		if w := g.get(t, "/healthz"); w.Code != http.StatusOK {
			t.Errorf("/healthz: %d", w.Code)
		}
	}
	ready(http.StatusServiceUnavailable, "there is no interval yet")
	g.add(t, 1)
	ready(http.StatusOK, "ok")
	g.clock.SetTime(noon.Add(3*period - 1))
	ready(http.StatusOK, "ok")
	g.clock.SetTime(noon.Add(3 * period))
	ready(http.StatusServiceUnavailable, "the newest interval is 30s old, and one should come every 10s")
	g.add(t, 2)
	ready(http.StatusOK, "ok")
}

func TestHealthIsAllThatItsHandlerServes(t *testing.T) {
	t.Parallel()
	h := NewHealthHandler(func() error { return nil })
	for path, status := range map[string]int{"/healthz": http.StatusOK, "/readyz": http.StatusOK, "/": http.StatusNotFound, usage.Path: http.StatusNotFound, MetricsPath: http.StatusNotFound} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody))
		if w.Code != status {
			t.Errorf("%s: %d, want %d", path, w.Code, status)
		}
	}
}
