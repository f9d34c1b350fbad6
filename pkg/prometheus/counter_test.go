package prometheus_test

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"loadline.dev/loadline/pkg/prometheus"
)

const page = `# HELP http_requests_total Requests.
# TYPE http_requests_total counter
http_requests_total{code="200",method="get"} 12
http_requests_total{code="200",method="post"} 3.5
http_requests_total{code="500",method="get"} 1e2
# TYPE http_requests_total_other gauge
http_requests_total_other 7
# TYPE took_seconds histogram
took_seconds_bucket{le="+Inf"} 4
took_seconds_sum 0.7
took_seconds_count 4
this is { not a metric
# EOF
`

// serving returns a client and the address of a server.
func serving(t *testing.T, handler http.HandlerFunc) (*http.Client, string) {
	t.Helper()
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	return prometheus.NewPodClient(time.Minute), s.URL + "/metrics"
}

func TestACounterIsTheSumOfItsSeriesWithTheLabels(t *testing.T) {
	t.Parallel()
	c, address := serving(t, func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.Header.Get("Accept"), "text/plain") {
			t.Errorf("the page is asked for as %q", r.Header.Get("Accept"))
		}
		fmt.Fprint(w, page)
	})
	for _, test := range []struct {
		name   string
		labels []prometheus.Label
		want   float64
	}{
		{"http_requests_total", nil, 115.5},
		{"http_requests_total", []prometheus.Label{{Name: "code", Value: "200"}}, 15.5},
		{"http_requests_total", []prometheus.Label{{Name: "code", Value: "200"}, {Name: "method", Value: "get"}}, 12},
		{"took_seconds_count", nil, 4},
	} {
		got, err := prometheus.ReadCounter(t.Context(), c, address, test.name, test.labels)
		if err != nil || got != test.want {
			t.Errorf("%s %v: got %v, %v, want %v", test.name, test.labels, got, err, test.want)
		}
	}
	for _, labels := range [][]prometheus.Label{{{Name: "code", Value: "20"}}, {{Name: "cod", Value: "200"}}} {
		if _, err := prometheus.ReadCounter(t.Context(), c, address, "http_requests_total", labels); !errors.Is(err, prometheus.ErrNoData) {
			t.Errorf("%v: got %v", labels, err)
		}
	}
}

func TestAPageThatHasNoCounterIsAnError(t *testing.T) {
	t.Parallel()
	for want, body := range map[string]string{
		"no series of c":             "d 1\n",
		"c: -1 is no number":         "c -1\n",
		"c: NaN is no number":        "c NaN\n",
		"c: +Inf is no number":       "c +Inf\n",
		"is too large":               "c{a=\"1\"} 1.7e308\nc{a=\"2\"} 1.7e308\n",
		"the series of c cannot be":  "c{a=1} 1\n",
		"more than 2000 series":      strings.Repeat("c 1\n", 2001),
		"line of more than 65536":    strings.Repeat("x", 70_000),
		"has more than 4194304 byte": strings.Repeat("# nothing\n", 500_000),
	} {
		c, address := serving(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) })
		if _, err := prometheus.ReadCounter(t.Context(), c, address, "c", nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestARedirectIsNotFollowed(t *testing.T) {
	t.Parallel()
	c, address := serving(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/metrics" {
			t.Errorf("%s was asked", r.URL)
		}
		http.Redirect(w, r, "/elsewhere", http.StatusFound)
	})
	if _, err := prometheus.ReadCounter(t.Context(), c, address, "c", nil); err == nil || !strings.Contains(err.Error(), "302 Found") {
		t.Errorf("got %v", err)
	}
}

func TestCountersAreAskedForOfTheNamespaceOnly(t *testing.T) {
	t.Parallel()
	_, address := serving(t, func(w http.ResponseWriter, r *http.Request) {
		want := `sum by (pod) ({__name__="rows_total",namespace="shop",pod=~"a-1|b\\.2",q="a\"} or {x=\"y"})`
		if got := r.FormValue("query"); got != want {
			t.Errorf("the query is %s, want %s", got, want)
		}
		fmt.Fprint(w, `{"status":"success","data":{"resultType":"vector","result":[{"metric":{"pod":"a-1"},"value":[1435781451.5,"75"]},`+
			`{"metric":{"pod":"other"},"value":[1,"1"]},{"metric":{"pod":"b.2"},"value":[1,"NaN"]}]}}`)
	})
	got, err := prometheus.CountersByPod(t.Context(), http.DefaultClient, strings.TrimSuffix(address, "/metrics"), "rows_total",
		[]prometheus.Label{{Name: "q", Value: `a"} or {x="y`}}, "shop", []string{"a-1", "b.2"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]prometheus.Sample{"a-1": {Value: 75, Time: time.UnixMilli(1435781451500)}}, got); diff != "" {
		t.Error(diff)
	}
}

func TestALabelThatIsNoNameIsNotAskedFor(t *testing.T) {
	t.Parallel()
	_, address := serving(t, func(http.ResponseWriter, *http.Request) { t.Error("it is asked for") })
	_, err := prometheus.CountersByPod(t.Context(), http.DefaultClient, address, "rows_total", []prometheus.Label{{Name: `q="a"} or {x`, Value: "y"}}, "shop", []string{"a-1"})
	if err == nil || !strings.Contains(err.Error(), "label ") {
		t.Errorf("got %v", err)
	}
}

// FuzzReadCounter holds that whatever a page is, it is an error or a number that a counter has.
func FuzzReadCounter(f *testing.F) {
	f.Add(page, "http_requests_total")
	f.Add("c 1\nc{a=\"b\"} 2 1435781451\nc 3 # {trace=\"x\"} 1\n", "c")
	f.Fuzz(func(t *testing.T, page, name string) {
		value, err := prometheus.SumOf(strings.NewReader(page), name)
		if err == nil && (!(value >= 0) || math.IsInf(value, 0)) {
			t.Errorf("%v", value)
		}
	})
}
