package server

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	testingclock "k8s.io/utils/clock/testing"

	"loadline.dev/loadline/pkg/gauge/history"
	"loadline.dev/loadline/pkg/gauge/usage"
)

const period = 10 * time.Second

var noon = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

// gauge is a served gauge, at a time that tests set.
type gauge struct {
	clock *testingclock.FakePassiveClock
	kept  *history.History
	http.Handler
}

// open lets everything in.
func open(_ string, next http.Handler) http.Handler { return next }

// newGauge returns a gauge that keeps 5 intervals and has had some.
func newGauge(t *testing.T, added int) *gauge {
	t.Helper()
	g := &gauge{clock: testingclock.NewFakePassiveClock(noon)}
	var err error
	if g.kept, err = history.New(5, g.clock); err != nil {
		t.Fatal(err)
	}
	g.Handler = NewHandler(g.kept, open, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { say(w, "metrics") }))
	for i := 1; i <= added; i++ {
		g.add(t, i)
	}
	return g
}

func (g *gauge) add(t *testing.T, i int) {
	t.Helper()
	if err := g.kept.Add(&usage.Interval{Node: "a", CPUs: 1, Seconds: float64(i)}); err != nil {
		t.Fatal(err)
	}
}

func (g *gauge) get(t *testing.T, target string, encodings ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, target, http.NoBody)
	for _, e := range encodings {
		r.Header.Add("Accept-Encoding", e)
	}
	w := httptest.NewRecorder()
	g.ServeHTTP(w, r)
	return w
}

// reported returns the report that an answer is.
func reported(t *testing.T, body io.Reader) *usage.Report {
	t.Helper()
	decoder := json.NewDecoder(body)
	decoder.DisallowUnknownFields()
	report := &usage.Report{}
	if err := decoder.Decode(report); err != nil {
		t.Fatal(err)
	}
	if err := report.Validate(); err != nil {
		t.Error(err)
	}
	return report
}

// numbers returns which intervals an answer has.
func numbers(t *testing.T, body io.Reader) []int {
	t.Helper()
	all := []int{}
	for _, v := range reported(t, body).Intervals {
		all = append(all, int(v.Seconds))
	}
	return all
}

func TestTheLastIntervalsAreServedTheOldestFirst(t *testing.T) {
	t.Parallel()
	g := newGauge(t, 7)
	for query, want := range map[string][]int{
		"": {7}, "?last=": {7}, "?last=1": {7}, "?last=3": {5, 6, 7}, "?last=5": {3, 4, 5, 6, 7}, "?last=6": {3, 4, 5, 6, 7}, "?last=%2B2": {6, 7},
		"?last=" + fmt.Sprint(math.MaxInt): {3, 4, 5, 6, 7}, "?last=" + strings.Repeat("9", 4000): {3, 4, 5, 6, 7},
	} {
		w := g.get(t, usage.Path+query)
		if w.Code != http.StatusOK || w.Header().Get("Content-Type") != "application/json" {
			t.Errorf("%.40s: %d, %v", query, w.Code, w.Header())
			continue
		}
		if diff := cmp.Diff(want, numbers(t, w.Body)); diff != "" {
			t.Errorf("%.40s (-want +got):\n%s", query, diff)
		}
	}
}

func TestANumberThatIsNoneIsRefused(t *testing.T) {
	t.Parallel()
	g := newGauge(t, 2)
	for _, last := range []string{"0", "-1", "-" + strings.Repeat("9", 4000), "two", "1.5", "1e3", "0x2", " 1", "1 ", "NaN", "１"} {
		w := g.get(t, usage.Path+"?last="+url.QueryEscape(last))
		if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "is not a whole number from 1") || w.Body.Len() > 200 {
			t.Errorf("%.40q: %d %.300q", last, w.Code, w.Body)
		}
	}
}

func TestBeforeTheFirstIntervalThereIsNone(t *testing.T) {
	t.Parallel()
	w := newGauge(t, 0).get(t, usage.Path+"?last=5")
	if want := `{"ageSeconds":0.000,"intervals":[]}` + "\n"; w.Code != http.StatusOK || w.Body.String() != want {
		t.Errorf("%d %q", w.Code, w.Body)
	}
}

func TestAnAnswerSaysHowOldItIs(t *testing.T) {
	t.Parallel()
	g := newGauge(t, 2)
	g.clock.SetTime(noon.Add(95 * time.Second))
	if age := reported(t, g.get(t, usage.Path).Body).AgeSeconds; age != 95 {
		t.Errorf("the age is %v", age)
	}
}

func TestAnswersAreCompressedForThoseWhoAccept(t *testing.T) {
	t.Parallel()
	g := newGauge(t, 3)
	for _, test := range []struct {
		encodings []string
		packed    bool
	}{
		{nil, false},
		{[]string{"identity"}, false},
		{[]string{"gzip;q=0"}, false},
		{[]string{"gzip;q=none"}, false},
		{[]string{"x-gzip-like"}, false},
		{[]string{"gzip"}, true},
		{[]string{"deflate, GZIP;q=0.5"}, true},
		{[]string{"br", "gzip; q=1"}, true},
	} {
		w := g.get(t, usage.Path+"?last=2", test.encodings...)
		if packed := w.Header().Get("Content-Encoding") == "gzip"; packed != test.packed {
			t.Errorf("%q: compressed: %v", test.encodings, packed)
			continue
		}
		var body io.Reader = w.Body
		if test.packed {
			var err error
			if body, err = gzip.NewReader(w.Body); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff([]int{2, 3}, numbers(t, body)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", test.encodings, diff)
		}
	}
}

func TestUsageAndMetricsAreGuardedAndNothingElseIsServed(t *testing.T) {
	t.Parallel()
	g := newGauge(t, 1)
	g.Handler = NewHandler(g.kept, func(path string, _ http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, path, http.StatusForbidden) })
	}, http.NotFoundHandler())
	for path, status := range map[string]int{
		usage.Path: http.StatusForbidden, usage.Path + "?last=two": http.StatusForbidden, MetricsPath: http.StatusForbidden,
		"/healthz": http.StatusNotFound, "/readyz": http.StatusNotFound, "/": http.StatusNotFound, "/v1/usage/": http.StatusNotFound, "/debug/pprof/": http.StatusNotFound,
	} {
		if w := g.get(t, path); w.Code != status || status == http.StatusForbidden && !strings.HasPrefix(path, strings.TrimSpace(w.Body.String())) {
			t.Errorf("%s: %d %q, want %d", path, w.Code, w.Body, status)
		}
	}
	w := httptest.NewRecorder()
	g.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, usage.Path, http.NoBody))
	if w.Code != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d", w.Code)
	}
}

func TestReadersAreServedWhileIntervalsAreAdded(t *testing.T) {
	t.Parallel()
	g := newGauge(t, 1)
	var all sync.WaitGroup
	for range maxAnswers {
		all.Go(func() {
			for range 50 {
				seen := numbers(t, g.get(t, usage.Path+"?last=5").Body)
				for i := 1; i < len(seen); i++ {
					if seen[i] != seen[i-1]+1 {
						t.Errorf("a reader sees %v", seen)
					}
				}
			}
		})
	}
	for i := 2; i < 100; i++ {
		g.add(t, i)
	}
	all.Wait()
}

func FuzzLast(f *testing.F) {
	f.Add("3")
	f.Add("-99999999999999999999")
	f.Fuzz(func(t *testing.T, last string) {
		if n, err := wanted(last, 30); err == nil && (n < 1 || n > 30) {
			t.Errorf("%q asks for %d", last, n)
		}
	})
}
