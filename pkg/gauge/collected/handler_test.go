package collected

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"loadline.dev/loadline/pkg/gauge/usage"
)

// get asks a manager that leads or does not.
func (k *kept) get(t *testing.T, leads bool, target string) *httptest.ResponseRecorder {
	t.Helper()
	leading := make(chan struct{})
	if leads {
		close(leading)
	}
	guard := func(path string, next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get(usage.TokenHeader) != "may get "+path {
				http.Error(w, "unauthorized", http.StatusUnauthorized)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, target, http.NoBody)
	r.Header.Set(usage.TokenHeader, "may get /v1/usage")
	w := httptest.NewRecorder()
	NewHandler(k.History, leading, guard).ServeHTTP(w, r)
	return w
}

// answered returns the age of the last round, and by node how old its report is and how many intervals it has.
func answered(t *testing.T, w *httptest.ResponseRecorder) (age float64, reports map[string][2]float64) {
	t.Helper()
	if w.Code != http.StatusOK {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	decoder := json.NewDecoder(w.Body)
	decoder.DisallowUnknownFields()
	var c usage.Collection
	if err := errors.Join(decoder.Decode(&c), c.Validate()); err != nil {
		t.Fatal(err)
	}
	reports = map[string][2]float64{}
	for {
		var r usage.Report
		if err := decoder.Decode(&r); errors.Is(err, io.EOF) {
			return c.AgeSeconds, reports
		} else if err := errors.Join(err, r.Validate()); err != nil {
			t.Fatal(err)
		}
		reports[r.Intervals[0].Node] = [2]float64{r.AgeSeconds, float64(len(r.Intervals))}
	}
}

func TestAnAnswerHasTheReportsOfAllNodesOrOfThoseThatAreNamed(t *testing.T) {
	t.Parallel()
	k := newKept()
	k.pass(30*time.Second, []usage.Pod{slow("a")}, "worker-1", "worker-2", "worker-3")
	k.pass(30*time.Second, []usage.Pod{slow("a")}, "worker-1", "worker-2")
	k.clock.SetTime(k.clock.Now().Add(4 * time.Second))
	for query, want := range map[string]map[string][2]float64{
		"":                                    {"worker-1": {4, 1}, "worker-2": {4, 1}, "worker-3": {34, 1}},
		"?last=4":                             {"worker-1": {4, 4}, "worker-2": {4, 4}, "worker-3": {34, 3}},
		"?last=1000000":                       {"worker-1": {4, 6}, "worker-2": {4, 6}, "worker-3": {34, 3}},
		"?last=2&node=worker-2&node=worker-3": {"worker-2": {4, 2}, "worker-3": {34, 2}},
		"?node=worker-9":                      {},
	} {
		age, got := answered(t, k.get(t, true, usage.NodesPath+query))
		if diff := cmp.Diff(want, got); diff != "" || age != 4 {
			t.Errorf("%s: the round is %v s old (-want +got):\n%s", query, age, diff)
		}
	}
}

func TestOnlyAManagerThatLeadsAndHasCollectedAnswersAndOnlyItsReaders(t *testing.T) {
	t.Parallel()
	idle, busy := newKept(), newKept()
	busy.pass(30*time.Second, []usage.Pod{slow("a")}, "worker-1")
	for _, test := range []struct {
		name   string
		k      *kept
		leads  bool
		query  string
		status int
		want   string
	}{
		{"a follower", busy, false, "", 503, usage.NotLeading},
		{"a leader before its first round", idle, true, "", 503, "the gauges have not been asked yet"},
		{"a leader", busy, true, "", 200, `"node":"worker-1"`},
		{"a wrong number", busy, true, "?last=0", 400, `last: "0" is not a whole number from 1`},
	} {
		w := test.k.get(t, test.leads, usage.NodesPath+test.query)
		if w.Code != test.status || !strings.Contains(w.Body.String(), test.want) {
			t.Errorf("%s answers %d %s, want %d with %q", test.name, w.Code, w.Body, test.status, test.want)
		}
		if after := w.Header().Get("Retry-After"); after != "" {
			t.Errorf("%s has clients wait for %s s, though the gauges can be asked at once", test.name, after)
		}
	}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, usage.NodesPath, http.NoBody)
	w := httptest.NewRecorder()
	NewHandler(busy.History, nil, func(string, http.Handler) http.Handler { return http.NotFoundHandler() }).ServeHTTP(w, r)
	if w.Code != http.StatusNotFound {
		t.Errorf("past the guard it answers %d", w.Code)
	}
}
