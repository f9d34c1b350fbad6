package observability

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"k8s.io/apimachinery/pkg/util/wait"
)

// patience is how long the tests wait for what must happen, on a slow machine.
const patience = 5 * time.Minute

// scrapeInterval is how often the tests' Prometheus scrapes and evaluates.
const scrapeInterval = 2 * time.Second

// prometheus is a running Prometheus.
type prometheus struct {
	address string // http://HOST:PORT
	log     bytes.Buffer
}

// startPrometheus starts a Prometheus with the shipped rules that scrapes the managers,
// the schedulers and the gauge of a site, with the token of a reader, until the test ends.
func startPrometheus(t *testing.T, s *site) *prometheus {
	t.Helper()
	job := func(name, scheme string, targets ...string) map[string]any {
		return map[string]any{
			"job_name": name, "scheme": scheme, "tls_config": map[string]bool{"insecure_skip_verify": true}, "honor_labels": true,
			"authorization": map[string]string{"credentials": s.token}, "static_configs": []any{map[string]any{"targets": targets}},
		}
	}
	dir := t.TempDir()
	config, err := json.Marshal(map[string]any{ // JSON is YAML
		"global":     map[string]string{"scrape_interval": scrapeInterval.String(), "scrape_timeout": scrapeInterval.String(), "evaluation_interval": scrapeInterval.String()},
		"rule_files": []string{rulesFile(t)},
		"scrape_configs": []any{
			job("loadline-manager", "https", s.managers...), job("loadline-scheduler", "https", s.schedulers...), job("loadline-gauge", "http", s.gauge),
		},
	})
	must(t, err)
	file := filepath.Join(dir, "prometheus.yaml")
	must(t, os.WriteFile(file, config, 0o600))
	p := &prometheus{}
	address := freeAddress(t)
	p.address = "http://" + address
	command := exec.Command(tool(t, "prometheus"), //nolint:noctx // it ends after the test, whose context is over by then
		"--config.file", file, "--storage.tsdb.path", filepath.Join(dir, "data"), "--web.listen-address", address, "--log.level", "warn")
	command.Stdout, command.Stderr = &p.log, &p.log
	must(t, command.Start())
	t.Cleanup(func() {
		must(t, command.Process.Signal(os.Interrupt))
		if err := command.Wait(); err != nil || t.Failed() {
			t.Logf("Prometheus: %v\n%s", err, p.log.String())
		}
	})
	p.await(t, "Prometheus to be ready", func(ctx context.Context) (bool, error) {
		return p.ask(ctx, "status/buildinfo", nil, &struct{}{}) == nil, nil
	})
	return p
}

// freeAddress returns an address of the loopback on which no process listens.
func freeAddress(t *testing.T) string {
	t.Helper()
	var config net.ListenConfig
	listener, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	must(t, err)
	must(t, listener.Close())
	return listener.Addr().String()
}

// await polls until something holds.
func (*prometheus) await(t *testing.T, what string, holds wait.ConditionWithContextFunc) {
	t.Helper()
	if err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, patience, true, holds); err != nil {
		t.Fatalf("waiting for %s: %v", what, err)
	}
}

// ask asks a part of the HTTP API and decodes its data.
func (p *prometheus) ask(ctx context.Context, path string, query url.Values, data any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, p.address+"/api/v1/"+path+"?"+query.Encode(), http.NoBody)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	answer := struct {
		Status, Error string
		Data          any
	}{Data: data}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if answer.Status != "success" {
		return fmt.Errorf("%s: %s", path, answer.Error)
	}
	return nil
}

// names returns all names of metrics.
func (p *prometheus) names(t *testing.T) map[string]bool {
	t.Helper()
	var list []string
	must(t, p.ask(t.Context(), "label/__name__/values", nil, &list))
	names := map[string]bool{}
	for _, name := range list {
		names[name] = true
	}
	return names
}

// now returns what a query answers at this moment.
func (p *prometheus) now(ctx context.Context, query string) (model.Vector, error) {
	var data struct{ Result model.Vector }
	err := p.ask(ctx, "query", url.Values{"query": {query}}, &data)
	return data.Result, err
}

// since returns what a query has answered from a time on.
func (p *prometheus) since(ctx context.Context, from time.Time, query string) (model.Matrix, error) {
	second := func(t time.Time) string { return strconv.FormatInt(t.Unix(), 10) }
	var data struct{ Result model.Matrix }
	err := p.ask(ctx, "query_range", url.Values{
		"query": {query}, "start": {second(from)}, "end": {second(time.Now())}, "step": {scrapeInterval.String()},
	}, &data)
	return data.Result, err
}

// selector is a choice of series in a query: the name of a metric, and the labels
// by which it chooses.
type selector struct {
	name   string
	labels []string
}

// selectors returns what a query reads, as Prometheus parses it.
func (p *prometheus) selectors(ctx context.Context, query string) ([]selector, error) {
	var tree any
	if err := p.ask(ctx, "parse_query", url.Values{"query": {query}}, &tree); err != nil {
		return nil, err
	}
	return selectorsOf(tree), nil
}

// selectorsOf walks over a tree of expressions.
func selectorsOf(tree any) []selector {
	var list []selector
	switch node := tree.(type) {
	case []any:
		for _, child := range node {
			list = append(list, selectorsOf(child)...)
		}
	case map[string]any:
		if kind := node["type"]; kind == "vectorSelector" || kind == "matrixSelector" {
			return []selector{selectorOf(node)}
		}
		for _, child := range node {
			list = append(list, selectorsOf(child)...)
		}
	}
	return list
}

func selectorOf(node map[string]any) selector {
	var s selector
	s.name, _ = node["name"].(string)
	matchers, _ := node["matchers"].([]any)
	for _, m := range matchers {
		matcher, _ := m.(map[string]any)
		if label, _ := matcher["name"].(string); label != model.MetricNameLabel {
			s.labels = append(s.labels, label)
		}
	}
	return s
}
