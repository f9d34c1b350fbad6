package live

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"loadline.dev/loadline/hack/madeup"
	"loadline.dev/loadline/pkg/evaluate/explanation"
	"loadline.dev/loadline/pkg/evaluate/findings"
	"loadline.dev/loadline/pkg/evaluate/observed"
	"loadline.dev/loadline/pkg/evaluate/plan"
	"loadline.dev/loadline/pkg/feasibility"
)

// scene is a look that is always the same.
type scene struct{ look *Look }

func (s *scene) Look(context.Context) (*Look, error) { return s.look, nil }

// admitted lets all see all.
type admitted struct{}

func (admitted) Rights(http.ResponseWriter, *http.Request) (findings.Rights, error) {
	return everything{}, nil
}
func (admitted) May() bool { return true }

// lookAt returns a look at what was observed.
func lookAt(tb testing.TB, in *observed.Input) *Look {
	tb.Helper()
	filter, err := feasibility.New(&feasibility.Cluster{Nodes: in.Nodes, Pods: in.Pods})
	if err != nil {
		tb.Fatal(err)
	}
	return &Look{Taken: time.Now(), In: in, Options: plan.Options{Feasibility: filter, Max: 20}, Judge: func(*explanation.Input) error { return nil }}
}

// BenchmarkThousandNodes is 1,000 nodes with 30,000 pods: the time until there is something to show, until all is worked out, and of a page.
func BenchmarkThousandNodes(b *testing.B) {
	in, err := madeup.Cluster(1000, 30, time.Now())
	if err != nil {
		b.Fatal(err)
	}
	look := lookAt(b, in)
	server := func() *Server {
		return &Server{Source: &scene{look}, Above: observed.DefaultAbove, Access: admitted{}, Clock: clock.RealClock{}}
	}
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			c := observed.Observe(look.In, observed.DefaultAbove)
			if _, err := findings.Of(c, observed.DefaultAbove, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
	s := server()
	b.Run("all", func(b *testing.B) {
		for b.Loop() {
			if err := s.lookOnce(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		b.ReportMetric(float64(m.HeapAlloc)/(1<<20), "MiB-kept")
		b.ReportMetric(float64(m.Sys)/(1<<20), "MiB-of-the-system")
	})
	handler := s.Handler()
	for _, path := range []string{"/", "/?q=app-12&above=1.3", "/node?name=node-10", "/pod?namespace=team-30&name=app-30-5d4f-00300", "/api/v1/findings"} {
		b.Run(path[:min(len(path), 6)], func(b *testing.B) {
			size := 0
			for b.Loop() {
				w := httptest.NewRecorder()
				w.Body = &bytes.Buffer{}
				handler.ServeHTTP(w, httptest.NewRequestWithContext(b.Context(), http.MethodGet, path, nil))
				if w.Code != http.StatusOK {
					b.Fatalf("%s: %d %s", path, w.Code, w.Body)
				}
				size = w.Body.Len()
			}
			b.ReportMetric(float64(size)/1024, "KiB")
		})
	}
}
