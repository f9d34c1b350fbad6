package prometheus_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"loadline.dev/loadline/pkg/prometheus"
)

// serve answers every query with a status and a body.
func serve(t *testing.T, status int, body string) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/prefix/api/v1/query" || r.FormValue("query") != `sum(rate(a{b="c"}[5m]))` {
			http.Error(w, "no such page", http.StatusNotFound)
			return
		}
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}))
	t.Cleanup(s.Close)
	return s
}

const query = `sum(rate(a{b="c"}[5m]))`

func TestAnAnswerIsANumberAndItsTime(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		body string
		want float64
	}{
		"a vector":  {`{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[1435781451.5,"0.75"]}]}}`, 0.75},
		"a scalar":  {`{"status":"success","data":{"resultType":"scalar","result":[1435781451.5,"12"]}}`, 12},
		"no number": {`{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[1435781451.5,"NaN"]}]}}`, math.NaN()},
		"too much":  {`{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[1435781451.5,"+Inf"]}]}}`, math.Inf(1)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, http.StatusOK, test.body)
			got, err := prometheus.Query(t.Context(), s.Client(), s.URL+"/prefix/", query)
			if err != nil {
				t.Fatal(err)
			}
			if got.Value != test.want && !(math.IsNaN(got.Value) && math.IsNaN(test.want)) {
				t.Errorf("the value is %v, want %v", got.Value, test.want)
			}
			if want := time.UnixMilli(1435781451500); !got.Time.Equal(want) {
				t.Errorf("the time is %v, want %v", got.Time, want)
			}
		})
	}
}

func TestAnswersWithoutOneNumberAreErrors(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		status int
		body   string
		want   string
	}{
		"none":                 {200, `{"status":"success","data":{"resultType":"vector","result":[]}}`, "the query has no answer: no series matches"},
		"two":                  {200, `{"status":"success","data":{"resultType":"vector","result":[{"metric":{"pod":"a"},"value":[1,"1"]},{"metric":{"pod":"b"},"value":[1,"2"]}]}}`, `answers with 2 series, such as {pod="a"} and {pod="b"}; add them up`},
		"a range":              {200, `{"status":"success","data":{"resultType":"matrix","result":[]}}`, "answers with a matrix; it should have one number now"},
		"a text":               {200, `{"status":"success","data":{"resultType":"string","result":[1,"x"]}}`, "answers with a string"},
		"a bad query":          {400, `{"status":"error","errorType":"bad_data","error":"1:5: parse error"}`, "prometheus refuses the query: 1:5: parse error"},
		"something else":       {200, `<html>Welcome</html>`, `does not answer as Prometheus does: "<html>Welcome</html>"`},
		"an overloaded one":    {503, `try later`, "(503 Service Unavailable) does not answer as Prometheus does"},
		"another JSON":         {200, `{}`, "does not answer as Prometheus does"},
		"a vector of nonsense": {200, `{"status":"success","data":{"resultType":"vector","result":[{"value":"x"}]}}`, "a vector that cannot be read"},
		"an endless one":       {200, strings.Repeat(" ", 2<<20), "more than 1048576 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, test.status, test.body)
			_, err := prometheus.Query(t.Context(), s.Client(), s.URL+"/prefix", query)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %s", err, test.want)
			}
			if errors.Is(err, prometheus.ErrNoData) != (name == "none") {
				t.Errorf("%v is of the wrong kind", err)
			}
		})
	}
}

func TestAQueryEndsWithItsContext(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.FormValue("query") != query { // read whole, so that the server notices when the client leaves
			t.Error("the query did not arrive")
		}
		close(asked)
		<-r.Context().Done()
	}))
	t.Cleanup(s.Close)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-asked
		cancel()
	}()
	if _, err := prometheus.Query(ctx, s.Client(), s.URL, query); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
