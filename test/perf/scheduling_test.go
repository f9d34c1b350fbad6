//go:build perf

package perf

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"text/template"

	schedulerperf "k8s.io/kubernetes/test/integration/scheduler_perf"

	"loadline.dev/loadline/hack/cluster/controlplane"
)

// BenchmarkScheduling measures all variants in pairs, prints the figures, and
// leaves them in scheduling.json.
func BenchmarkScheduling(b *testing.B) {
	if err := os.MkdirAll(*out, 0o755); err != nil {
		b.Fatal(err)
	}
	binaries, err := controlplane.Binaries(b.Context(), os.Stderr)
	if err != nil {
		b.Fatal(err)
	}
	b.Setenv("PATH", binaries+string(os.PathListSeparator)+os.Getenv("PATH")) // where upstream looks for etcd
	b.Setenv("ARTIFACTS", *out)                                               // where upstream leaves the log of a failure

	result := &Result{Nodes: *nodes, Pods: *pods}
	for n := range *pairs {
		pair := Pair{}
		order := Variants()
		if n%2 == 1 {
			slices.Reverse(order)
		}
		for _, variant := range order {
			ran := b.Run(fmt.Sprintf("pair-%d/%s", n+1, variant), func(b *testing.B) { pair[variant] = measure(b, variant) })
			if !ran {
				b.FailNow() // the run said why
			}
		}
		if len(pair) < len(order) {
			return // -bench chose some of the runs: there is nothing to compare
		}
		result.Pairs = append(result.Pairs, pair)
	}
	if err := write(result); err != nil {
		b.Fatal(err)
	}
}

func write(result *Result) error {
	data, err := json.MarshalIndent(result, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(*out, "scheduling.json"), append(data, '\n'), 0o600); err != nil {
		return err
	}
	return result.WriteTables(os.Stdout)
}

// measure runs upstream's benchmark once, with the configuration of a variant
// on a new cluster, and checks that it did what it should.
func measure(b *testing.B, variant Variant) Figures {
	b.Helper()
	dir := b.TempDir()
	if err := flag.Set("data-items-dir", dir); err != nil { // upstream's flag
		b.Fatal(err)
	}
	config := filepath.Join(dir, "benchmark.yaml")
	if err := writeConfig(config, variant); err != nil {
		b.Fatal(err)
	}
	c := &cluster{variant: variant}
	schedulerperf.RunBenchmarkPerfScheduling(b, config, string(variant), c.registry(),
		schedulerperf.WithPrepareFn(c.prepare), schedulerperf.WithNodeUpdateFn(c.observe))
	if b.Failed() {
		b.FailNow()
	}
	if err := c.check(firstPods() + *pods); err != nil {
		b.Fatal(err)
	}
	figures, err := readFigures(dir)
	if err != nil {
		b.Fatal(err)
	}
	figures.ProcessorMillis = (c.after.processor - c.before.processor).Seconds() * 1000 / float64(*pods)
	return figures
}

// firstPods is how many pods are there before the measured ones, in upstream's
// proportion: one for five nodes.
func firstPods() int { return *nodes / 5 }

// writeConfig writes upstream's description of the benchmark for a variant.
func writeConfig(path string, variant Variant) error {
	text, err := template.ParseFiles("testdata/benchmark.yaml.tmpl")
	if err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	err = text.Execute(f, map[string]any{"Variant": variant, "Nodes": *nodes, "FirstPods": firstPods(), "Pods": *pods})
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}

// readFigures reads the figures from the one JSON file that upstream's
// benchmark left in a folder.
func readFigures(dir string) (Figures, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return Figures{}, err
	}
	if len(files) != 1 {
		return Figures{}, fmt.Errorf("want one JSON file of scheduler_perf, got %q", files)
	}
	data, err := os.ReadFile(files[0])
	if err != nil {
		return Figures{}, err
	}
	var items schedulerperf.DataItems
	if err := json.Unmarshal(data, &items); err != nil {
		return Figures{}, fmt.Errorf("reading %s: %w", files[0], err)
	}
	figures := Figures{
		PodsPerSecond:  average(items, "SchedulingThroughput", ""),
		PreScoreMillis: average(items, "scheduler_framework_extension_point_duration_seconds", "PreScore"),
		ScoreMillis:    average(items, "scheduler_framework_extension_point_duration_seconds", "Score"),
	}
	if figures.PodsPerSecond == 0 {
		return Figures{}, fmt.Errorf("-perf-pods=%d: all were scheduled within two seconds, too fast to measure; take more", *pods)
	}
	return figures, nil
}

// average returns the average of a metric at an extension point, 0 if there is
// none.
func average(items schedulerperf.DataItems, metric, extensionPoint string) float64 {
	for _, item := range items.DataItems {
		if item.Labels["Metric"] == metric && (extensionPoint == "" || item.Labels["extension_point"] == extensionPoint) {
			return item.Data["Average"]
		}
	}
	return 0
}
