//go:build perf

package perf

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/template"

	schedulerperf "k8s.io/kubernetes/test/integration/scheduler_perf"

	"loadline.dev/loadline/hack/cluster/controlplane"
)

// BenchmarkScheduling measures all variants in pairs, topic by topic, prints the
// figures, and leaves them in scheduling.json.
func BenchmarkScheduling(b *testing.B) {
	if err := os.MkdirAll(*out, 0o755); err != nil {
		b.Fatal(err)
	}
	binaries, err := controlplane.Binaries(b.Context(), "", os.Stderr)
	if err != nil {
		b.Fatal(err)
	}
	b.Setenv("PATH", binaries+string(os.PathListSeparator)+os.Getenv("PATH")) // where upstream looks for etcd
	b.Setenv("ARTIFACTS", *out)                                               // where upstream leaves the log of a failure

	var results Results
	for i := range chosen {
		result := compare(b, &chosen[i])
		if len(result.Pairs) < *pairs {
			continue // -bench chose some of the runs: there is nothing to compare
		}
		results = append(results, result)
		if err := write(results); err != nil { // what there is, should a later topic fail
			b.Fatal(err)
		}
		if err := result.WriteTables(os.Stdout); err != nil {
			b.Fatal(err)
		}
	}
	if len(results) > 1 {
		if err := results.WriteTable(os.Stdout); err != nil {
			b.Fatal(err)
		}
	}
}

// compare measures all variants in pairs.
func compare(b *testing.B, topic *Topic) *Result {
	b.Helper()
	sizes := topic.Sizes(*nodes, *pods)
	result := &Result{Topic: topic.Name, Nodes: sizes.Nodes, Pods: sizes.Pods}
	for n := range *pairs {
		pair := Pair{}
		order := Variants()
		if n%2 == 1 {
			slices.Reverse(order)
		}
		for _, variant := range order {
			name := fmt.Sprintf("%s/pair-%d/%s", topic.Name, n+1, variant)
			ran := b.Run(name, func(b *testing.B) {
				f := measure(b, topic, variant)
				fmt.Printf("%s: %.0f pods/s, %.2f ms of processor time per pod\n", name, f.PodsPerSecond, f.ProcessorMillis)
				pair[variant] = f
			})
			if !ran {
				b.FailNow() // the run said why
			}
		}
		if len(pair) == len(order) {
			result.Pairs = append(result.Pairs, pair)
		}
	}
	return result
}

func write(results Results) error {
	data, err := json.MarshalIndent(results, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(*out, "scheduling.json"), append(data, '\n'), 0o600)
}

// measure runs a topic of upstream's benchmark once, with the configuration of a
// variant on a new cluster, and checks that it did what it should.
func measure(b *testing.B, topic *Topic, variant Variant) Figures {
	b.Helper()
	dir := b.TempDir()
	if err := flag.Set("data-items-dir", dir); err != nil { // upstream's flag
		b.Fatal(err)
	}
	config, err := writeConfig(dir, topic, variant)
	if err != nil {
		b.Fatal(err)
	}
	c := &cluster{variant: variant}
	schedulerperf.RunBenchmarkPerfScheduling(b, config, string(variant), c.registry(),
		schedulerperf.WithPrepareFn(c.prepare), schedulerperf.WithNodeUpdateFn(c.observe))
	if b.Failed() {
		b.FailNow()
	}
	sizes := topic.Sizes(*nodes, *pods)
	if err := c.check(topic, sizes); err != nil {
		b.Fatal(err)
	}
	figures, err := readFigures(dir)
	if err != nil {
		b.Fatal(err)
	}
	figures.ProcessorMillis = (c.after.processor - c.before.processor).Seconds() * 1000 / float64(sizes.Pods)
	figures.Batched = (c.after.batched - c.before.batched) / float64(sizes.Pods)
	return figures
}

// writeConfig writes upstream's description of a topic, and the configuration of
// a variant's scheduler, into a folder. It returns the path of the description.
func writeConfig(dir string, topic *Topic, variant Variant) (string, error) {
	values := map[string]any{
		"Topic": topic, "Sizes": topic.Sizes(*nodes, *pods), "Scheduler": filepath.Join(dir, "scheduler.yaml"),
	}
	if err := render(filepath.Join(dir, "scheduler.yaml"), string(variant)+".yaml.tmpl", values); err != nil {
		return "", err
	}
	description := filepath.Join(dir, "benchmark.yaml")
	return description, render(description, "benchmark.yaml.tmpl", values)
}

// render writes what a template of testdata makes of values.
func render(path, name string, values map[string]any) error {
	text, err := template.New(name).Funcs(template.FuncMap{"join": strings.Join}).ParseFiles(filepath.Join("testdata", name))
	if err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	err = text.Execute(f, values)
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
