package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"k8s.io/client-go/kubernetes"

	"loadline.dev/loadline/hack/cluster/controlplane"
	"loadline.dev/loadline/hack/processes"
)

// played is what this process is called, which plays the gauges and the users.
const played = "gauges"

// watched are the processes whose processor time is counted, by their names, and the API server whose requests are.
type watched struct {
	api       kubernetes.Interface
	processes map[string]int
}

// watch returns what watches a control plane and this process.
func watch(plane *controlplane.ControlPlane) (*watched, error) {
	api, err := kubernetes.NewForConfig(plane.RESTConfig())
	if err != nil {
		return nil, err
	}
	w := &watched{api: api, processes: map[string]int{played: os.Getpid()}}
	for _, name := range []string{controlplane.APIServer, controlplane.Etcd} {
		if w.processes[name], err = plane.PID(name); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// sample is what had been used by a moment: processor time by process, and requests to the API server by their verbs.
type sample struct {
	at       time.Time
	busy     map[string]time.Duration
	requests map[string]float64
}

func (w *watched) sample(ctx context.Context) (*sample, error) {
	s := &sample{at: time.Now(), busy: map[string]time.Duration{}}
	for name, id := range w.processes {
		busy, err := processes.Processor(id)
		if err != nil {
			return nil, fmt.Errorf("the processor time of %s: %w", name, err)
		}
		s.busy[name] = busy
	}
	text, err := w.api.Discovery().RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
	if err != nil {
		return nil, fmt.Errorf("the metrics of the API server: %w", err)
	}
	s.requests, err = requestsByVerb(text)
	return s, err
}

// requestsByVerb returns how many requests an API server has answered, by the lines of its metrics.
func requestsByVerb(metrics []byte) (map[string]float64, error) {
	families, err := parse(metrics)
	if err != nil {
		return nil, fmt.Errorf("the metrics of the API server: %w", err)
	}
	byVerb := map[string]float64{}
	for _, metric := range families["apiserver_request_total"].GetMetric() {
		for _, label := range metric.GetLabel() {
			if label.GetName() == "verb" {
				byVerb[label.GetValue()] += metric.GetCounter().GetValue()
			}
		}
	}
	return byVerb, nil
}

func parse(metrics []byte) (map[string]*dto.MetricFamily, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	return parser.TextToMetricFamilies(bytes.NewReader(metrics))
}

// spent is what was used in a period.
type spent struct {
	took          time.Duration
	cores         map[string]float64
	reads, writes float64 // requests per second
}

// since returns what was used from an earlier sample on.
func (s *sample) since(earlier *sample) *spent {
	took := s.at.Sub(earlier.at)
	p := &spent{took: took, cores: map[string]float64{}}
	for name, busy := range s.busy {
		p.cores[name] = (busy - earlier.busy[name]).Seconds() / took.Seconds()
	}
	for verb, n := range s.requests {
		rate := (n - earlier.requests[verb]) / took.Seconds()
		switch verb {
		case "GET", "LIST", "WATCH":
			p.reads += rate
		default:
			p.writes += rate
		}
	}
	return p
}

// period waits for some time, and returns what was used meanwhile.
func (w *watched) period(ctx context.Context, length time.Duration) (*spent, error) {
	before, err := w.sample(ctx)
	if err != nil {
		return nil, err
	}
	timer := time.NewTimer(length)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-timer.C:
	}
	after, err := w.sample(ctx)
	if err != nil {
		return nil, err
	}
	return after.since(before), nil
}

// write writes what was used in a period under a heading, each process on a line of its own.
func (p *spent) write(out io.Writer, what string) {
	fmt.Fprintf(out, "%s (%s): %.1f reads/s and %.1f writes/s of the API server; cores:", what, p.took.Round(time.Second), p.reads, p.writes)
	for i, name := range slices.Sorted(maps.Keys(p.cores)) {
		if i > 0 {
			fmt.Fprint(out, ",")
		}
		fmt.Fprintf(out, " %s %.2f", strings.TrimPrefix(name, "kube-"), p.cores[name])
	}
	fmt.Fprintln(out)
}
