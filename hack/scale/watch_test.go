package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"loadline.dev/loadline/pkg/gauge/usage"
)

func TestRequestsAreCountedByTheirVerbs(t *testing.T) {
	t.Parallel()
	got, err := requestsByVerb([]byte(`# TYPE apiserver_request_total counter
apiserver_request_total{verb="GET",code="200"} 3
apiserver_request_total{verb="GET",code="404"} 4
apiserver_request_total{verb="PATCH",code="200"} 5
`))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]float64{"GET": 7, "PATCH": 5}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	before := &sample{at: time.Unix(0, 0), busy: map[string]time.Duration{"etcd": time.Second}, requests: map[string]float64{"GET": 1}}
	after := &sample{at: time.Unix(2, 0), busy: map[string]time.Duration{"etcd": 2 * time.Second}, requests: got}
	if p := after.since(before); p.reads != 3 || p.writes != 2.5 || p.cores["etcd"] != 0.5 {
		t.Errorf("%+v, want 3 reads and 2.5 writes a second, and half a core", p)
	}
	if _, err := requestsByVerb([]byte("apiserver_request_total{")); err == nil {
		t.Error("a line that is cut off is taken")
	}
}

func TestWhatAManagerCollectsIsRead(t *testing.T) {
	t.Parallel()
	got, err := collectionOf([]byte(`# TYPE loadline_collection_targets gauge
loadline_collection_targets 50
# TYPE loadline_collection_duration_seconds gauge
loadline_collection_duration_seconds 0.25
# TYPE loadline_collection_requests_total counter
loadline_collection_requests_total{outcome="answered"} 99
loadline_collection_requests_total{outcome="failed"} 1
# TYPE loadline_plan_duration_seconds histogram
loadline_plan_duration_seconds_bucket{le="+Inf"} 2
loadline_plan_duration_seconds_sum 3.5
loadline_plan_duration_seconds_count 2
`))
	if err != nil || *got != (collection{gauges: 50, seconds: 0.25, answered: 99, failed: 1, plans: 2, planning: 3.5}) {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestAGaugeAnswersAsManyIntervalsAsAreAskedFor(t *testing.T) {
	t.Parallel()
	c := made(t)
	for query, want := range map[string]int{"": 1, "?last=2": 2, "?last=1000": len(c.in.Sights[0].Intervals), "?last=0": -1, "?last=-3": -1, "?last=x": -1} {
		w := httptest.NewRecorder()
		usageHandler(&c.in.Sights[0]).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, usage.Path+query, http.NoBody))
		if want < 0 {
			if w.Code != http.StatusBadRequest {
				t.Errorf("%q is answered with %d", query, w.Code)
			}
			continue
		}
		if got := strings.Count(w.Body.String(), `"end"`); got != want {
			t.Errorf("%q: %d intervals, want %d", query, got, want)
		}
	}
}

func TestAWorkloadHasOneProfile(t *testing.T) {
	t.Parallel()
	c := made(t)
	if got := len(profiles(c.in.Pods, 10)); got != 2 { // the six pods are of one workload
		t.Errorf("%d profiles, want that of all nodes and one of a workload", got)
	}
}
