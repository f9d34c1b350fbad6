package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	k8smetrics "k8s.io/component-base/metrics"
)

func TestMetricsAreKnownBeforeTheyHaveATimeSeries(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	registry.MustRegister(
		prometheus.NewCounterVec(prometheus.CounterOpts{Name: "loads_total", Help: `Loads, "full" or {not}: all.`}, []string{"ship", "port"}),
		prometheus.NewGauge(prometheus.GaugeOpts{Name: "draft_meters", Help: "How deep it lies.", ConstLabels: prometheus.Labels{"sea": "\", help: {"}}),
		prometheus.NewHistogram(prometheus.HistogramOpts{Name: "voyage_seconds", Help: "How long.", Buckets: []float64{0.5, 90, 7200}}),
		prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "wave_meters", Help: "How high."}, []string{"sea"}),
		prometheus.NewSummaryVec(prometheus.SummaryOpts{Name: "wind_meters", Help: "How strong."}, []string{"sea"}),
	)
	kube := k8smetrics.NewKubeRegistry()
	kube.MustRegister(
		k8smetrics.NewGaugeVec(&k8smetrics.GaugeOpts{Name: "pods", Help: "Pods.", StabilityLevel: k8smetrics.BETA}, []string{"state"}),
		k8smetrics.NewCounter(&k8smetrics.CounterOpts{Name: "falls_total", Help: "[sic] Falls.", StabilityLevel: k8smetrics.ALPHA}),
	)
	got, err := registered(registry)
	if err != nil {
		t.Fatal(err)
	}
	fromKube, err := registered(kube.Registerer())
	if err != nil {
		t.Fatal(err)
	}
	maps.Copy(got, fromKube)
	want := map[string]metric{
		"loads_total":    {name: "loads_total", help: `Loads, "full" or {not}: all.`, labels: []string{"ship", "port"}, kind: "counter"},
		"draft_meters":   {name: "draft_meters", help: "How deep it lies.", kind: "gauge"},
		"voyage_seconds": {name: "voyage_seconds", help: "How long.", kind: "histogram", buckets: []float64{0.5, 90, 7200}},
		"wave_meters":    {name: "wave_meters", help: "How high.", labels: []string{"sea"}, kind: "histogram"},
		"wind_meters":    {name: "wind_meters", help: "How strong.", labels: []string{"sea"}, kind: "summary"},
		"pods":           {name: "pods", help: "Pods.", labels: []string{"state"}, kind: "gauge", stability: "BETA"},
		"falls_total":    {name: "falls_total", help: "[sic] Falls.", kind: "counter", stability: "ALPHA"},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(metric{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	table, err := metricTable(got, []string{"loads_total", "voyage_seconds", "pods"})
	if err != nil {
		t.Fatal(err)
	}
	rows := `| Metric | Type | Labels | What it tells |
|---|---|---|---|
| ~loads_total~ | counter | ~ship~, ~port~ | Loads, "full" or {not}: all. |
| ~voyage_seconds~ | histogram, 3 buckets from 0.5 s to 2 h |  | How long. |
| ~pods~ | gauge, BETA | ~state~ | Pods. |`
	if diff := cmp.Diff(strings.ReplaceAll(rows, "~", "`"), table); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAMetricThatTellsNothingIsNamed(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	registry.MustRegister(prometheus.NewGauge(prometheus.GaugeOpts{Name: "silent"})) //nolint:promlinter // that is the point
	found, err := registered(registry)
	if err != nil {
		t.Fatal(err)
	}
	found["strange"] = metric{name: "strange", help: "What?"}
	for name, want := range map[string]string{
		"silent":  "silent: the metric does not say what it tells",
		"missing": "missing: there is no such metric",
		"strange": "strange: the type of the metric is not known",
	} {
		if _, err := metricTable(found, []string{name}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// What the sources declare is what the programs register, and what the page lists.
func TestEveryMetricOfTheSourcesIsInTheReference(t *testing.T) {
	t.Parallel()
	manager, err := managerMetrics()
	if err != nil {
		t.Fatal(err)
	}
	scheduler, err := schedulerMetrics()
	if err != nil {
		t.Fatal(err)
	}
	gauge, err := gaugeMetrics()
	if err != nil {
		t.Fatal(err)
	}
	servers, err := serverMetrics()
	if err != nil {
		t.Fatal(err)
	}
	listed := slices.Sorted(slices.Values(slices.Concat(oursOf(manager), oursOf(scheduler), oursOf(gauge), oursOf(servers))))
	if diff := cmp.Diff(declaredMetrics(t), listed); diff != "" {
		t.Errorf("declared, but not listed (-), and the other way round (+):\n%s", diff)
	}
	for _, name := range listed {
		page := readBook(t, written)["metrics.md"]
		if !strings.Contains(page, `<a id="`+name+`"></a>`) {
			t.Errorf("metrics.md does not have %s: run make generate", name)
		}
	}
}

// declaredMetrics returns the names of the metrics that pkg and cmd declare, sorted.
func declaredMetrics(t *testing.T) []string {
	t.Helper()
	var names []string
	for _, folder := range []string{"pkg", "cmd"} {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if literal, ok := n.(*ast.CompositeLit); ok && isOptions(literal) {
					names = append(names, declaredName(t, literal))
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(names)
	return names
}

// isOptions reports whether a literal is the options of a metric, such as
// prometheus.GaugeOpts{...}.
func isOptions(literal *ast.CompositeLit) bool {
	of, ok := literal.Type.(*ast.SelectorExpr)
	return ok && slices.Contains([]string{"CounterOpts", "GaugeOpts", "HistogramOpts", "SummaryOpts", "TimingHistogramOpts"}, of.Sel.Name)
}

// declaredName is the name that the options give.
func declaredName(t *testing.T, literal *ast.CompositeLit) string {
	t.Helper()
	parts := map[string]string{}
	for _, e := range literal.Elts {
		pair, ok := e.(*ast.KeyValueExpr)
		if !ok {
			continue
		}
		key, isName := pair.Key.(*ast.Ident)
		value, isLiteral := pair.Value.(*ast.BasicLit)
		if !isName || !isLiteral {
			continue
		}
		if plain, err := strconv.Unquote(value.Value); err == nil {
			parts[key.Name] = plain
		}
	}
	if parts["Name"] == "" {
		t.Errorf("a metric whose name is not written as a string: %v", parts)
	}
	return prometheus.BuildFQName(parts["Namespace"], parts["Subsystem"], parts["Name"])
}
