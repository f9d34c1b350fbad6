//go:build perf

package manager

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/hack/cluster/controlplane"
	"loadline.dev/loadline/hack/local"
)

// patience is how long a phase may take.
const patience = 30 * time.Minute

// site is a control plane with Loadline's resource definitions, and a manager.
type site struct {
	client.WithWatch
	plane   *controlplane.ControlPlane
	server  *http.Client // of the API server
	binary  string
	manager *local.Process // nil: not started
	metrics string         // the address of the manager's
}

func newSite(b *testing.B) *site {
	b.Helper()
	root, err := local.Root(b.Context())
	must(b, err)
	binary, err := local.Build(b.Context(), root, b.TempDir(), "loadline-manager")
	must(b, err)
	plane, err := controlplane.Start(b.Context(), controlplane.Options{Log: os.Stderr, WithoutControllerManager: true, WithoutKWOK: true})
	must(b, err)
	b.Cleanup(func() { must(b, plane.Stop()) })
	must(b, local.InstallCRDs(plane.RESTConfig(), root))
	c, err := local.NewClient(plane.RESTConfig())
	must(b, err)
	server, err := rest.HTTPClientFor(plane.RESTConfig())
	must(b, err)
	return &site{WithWatch: c, plane: plane, server: server, binary: binary}
}

func (s *site) startManager(b *testing.B) {
	b.Helper()
	listener, err := new(net.ListenConfig).Listen(b.Context(), "tcp", "127.0.0.1:0")
	must(b, err)
	s.metrics = listener.Addr().String()
	must(b, listener.Close())
	s.manager, err = local.StartManager(b.Context(), s.binary, s.plane.Kubeconfig(), "--metrics-bind-address", s.metrics, "--metrics-secure=false")
	must(b, err)
	b.Cleanup(func() { must(b, s.manager.Stop()) })
}

// usage is what was used since the start of the processes.
type usage struct {
	manager, server float64 // processor time, in seconds
	memory          float64 // of the manager, in bytes, at that moment
	requests        float64 // of the manager
	refused         float64 // those of them that conflicted
}

// used reads the metrics of the manager and of the API server.
func (s *site) used(b *testing.B) usage {
	b.Helper()
	const cpu = "process_cpu_seconds_total"
	u := usage{server: sum(scrape(b, s.server, s.plane.RESTConfig().Host+"/metrics")[cpu], "")}
	if s.manager == nil {
		return u
	}
	families := scrape(b, http.DefaultClient, "http://"+s.metrics+"/metrics")
	requests := families["rest_client_requests_total"]
	u.manager, u.memory = sum(families[cpu], ""), sum(families["process_resident_memory_bytes"], "")
	u.requests, u.refused = sum(requests, ""), sum(requests, "409")
	return u
}

func scrape(b *testing.B, c *http.Client, url string) map[string]*dto.MetricFamily {
	b.Helper()
	request, err := http.NewRequestWithContext(b.Context(), http.MethodGet, url, http.NoBody)
	must(b, err)
	response, err := c.Do(request)
	must(b, err)
	body, err := io.ReadAll(response.Body)
	must(b, err)
	must(b, response.Body.Close())
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(body))
	must(b, err)
	return families
}

// sum adds up a metric, of one status code of HTTP or, for "", of all.
func sum(family *dto.MetricFamily, code string) float64 {
	total := 0.0
	for _, m := range family.GetMetric() {
		of := ""
		for _, l := range m.GetLabel() {
			if l.GetName() == "code" {
				of = l.GetValue()
			}
		}
		if code == "" || code == of {
			total += m.GetCounter().GetValue() + m.GetGauge().GetValue()
		}
	}
	return total
}

// phase does something, waits until n profiles of a generation are Ready, and
// returns how long that took and what was used.
func (s *site) phase(b *testing.B, n int, generation int64, do func()) (seconds float64, used usage) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), patience)
	defer cancel()
	before, begin := s.used(b), time.Now()
	ended := make(chan error, 1)
	go func() { ended <- s.await(ctx, n, generation) }()
	do()
	must(b, <-ended)
	seconds = time.Since(begin).Seconds()
	after := s.used(b)
	return seconds, usage{
		manager: after.manager - before.manager, server: after.server - before.server, memory: after.memory,
		requests: after.requests - before.requests, refused: after.refused - before.refused,
	}
}

// await waits until n profiles of a generation have a status of it. A watch that ends
// begins again.
func (s *site) await(ctx context.Context, n int, generation int64) error {
	for {
		done := map[types.UID]bool{}
		enough := func(p *v1alpha1.WorkloadProfile) bool {
			if p.Generation == generation && p.Status.ObservedGeneration != nil && *p.Status.ObservedGeneration == generation {
				done[p.UID] = true
			}
			return len(done) >= n
		}
		var list v1alpha1.WorkloadProfileList
		if err := s.List(ctx, &list); err != nil {
			return err
		}
		for i := range list.Items {
			if enough(&list.Items[i]) {
				return nil
			}
		}
		watcher, err := s.Watch(ctx, &list, &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: list.ResourceVersion}})
		if err != nil {
			return err
		}
		for event := range watcher.ResultChan() {
			if p, is := event.Object.(*v1alpha1.WorkloadProfile); is && enough(p) {
				watcher.Stop()
				return nil
			}
		}
		if ctx.Err() != nil {
			return fmt.Errorf("%d of %d profiles are Ready: %w", len(done), n, ctx.Err())
		}
	}
}

// awaitQuiet waits until the manager has asked nothing between two looks.
func (s *site) awaitQuiet(b *testing.B) {
	b.Helper()
	ticks := time.NewTicker(3 * time.Second)
	defer ticks.Stop()
	for last := -1.0; ; <-ticks.C {
		now := s.used(b).requests
		if now == last {
			return
		}
		last = now
	}
}

func must(b *testing.B, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}
