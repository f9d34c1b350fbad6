//go:build perf

package perf

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"text/template"
	"time"

	"github.com/google/pprof/profile"
	schedulerperf "k8s.io/kubernetes/test/integration/scheduler_perf"
	"sigs.k8s.io/yaml"
)

// podsSchedulingTimeout is how long the pods of one operation may take: what upstream gives its slowest topic.
const podsSchedulingTimeout = 20 * time.Minute

// runHere runs a topic of upstream's benchmark once in this process, with the configuration of a variant on a new cluster, and checks
// that it did what it should. It leaves the figures and the profile in files.
func runHere(b *testing.B, topic *Topic, variant Variant) {
	b.Helper()
	dir := b.TempDir()
	if err := flag.Set("data-items-dir", dir); err != nil { // upstream's flag
		b.Fatal(err)
	}
	script, err := scriptOf(b, dir, topic)
	if err != nil {
		b.Fatal(err)
	}
	config, err := writeScript(dir, script, variant)
	if err != nil {
		b.Fatal(err)
	}
	name := *runName
	if name == "" {
		name = fmt.Sprintf("%s-%s", topic.Name, variant)
	}
	path := filepath.Join(*out, "runs", name)
	c := &cluster{topic: topic, variant: variant, steps: script.Steps, profile: path + ".pprof"}
	schedulerperf.RunBenchmarkPerfScheduling(b, config, string(variant), c.registry(),
		schedulerperf.WithPrepareFn(c.prepare), schedulerperf.WithNodeUpdateFn(c.step), schedulerperf.WithPodsSchedulingTimeout(podsSchedulingTimeout))
	if b.Failed() {
		b.FailNow()
	}
	if err := c.check(); err != nil {
		b.Fatal(err)
	}
	figures, err := c.figures(dir)
	if err != nil {
		b.Fatal(err)
	}
	if err := writeJSON(path+".json", figures); err != nil {
		b.Fatal(err)
	}
	fmt.Println(figures)
}

// scriptOf returns the script of a topic; of one of ours from a template, written to a folder.
func scriptOf(b *testing.B, dir string, topic *Topic) (*Script, error) {
	b.Helper()
	testdata, err := filepath.Abs("testdata")
	if err != nil {
		return nil, err
	}
	a := Adaptation{Case: topic.Name, Workload: topic.Workload, Scheduler: filepath.Join(dir, "scheduler.yaml")}
	var config string
	if topic.Own != nil {
		a.Folder = testdata
		config = filepath.Join(dir, "topic.yaml")
		err = render(config, "benchmark.yaml.tmpl", map[string]any{"Name": topic.Name, "Own": topic.Own, "Sizes": topic.Own.Sizes(*nodes, *pods)})
	} else {
		a.Folder, err = upstreamFolder(b, topic)
		a.Profile = filepath.Join(testdata, "all-pods.yaml")
		if topic.Light {
			a.Profile = filepath.Join(testdata, "all-light-pods.yaml")
		}
		if *quick {
			a.Workload = "" // the first one, which is the smallest
		}
		config = filepath.Join(a.Folder, "performance-config.yaml")
	}
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(config)
	if err != nil {
		return nil, err
	}
	return a.Adapt(data)
}

func upstreamFolder(b *testing.B, topic *Topic) (string, error) {
	b.Helper()
	module, err := kubernetesModule(b.Context(), "{{.Dir}}")
	return filepath.Join(module, "test", "integration", "scheduler_perf", filepath.FromSlash(topic.Folder)), err
}

// writeScript writes a script for upstream's loader, and the configuration of a variant's scheduler, into a folder. It returns the
// path of the script.
func writeScript(dir string, script *Script, variant Variant) (string, error) {
	config, err := os.ReadFile(filepath.Join("testdata", string(variant)+".yaml"))
	if err != nil {
		return "", err
	}
	var scheduler map[string]any
	if script.SchedulerConfig == "" {
		err = yaml.Unmarshal(config, &scheduler)
	} else {
		var own []byte
		if own, err = os.ReadFile(script.SchedulerConfig); err != nil {
			return "", err
		}
		scheduler, err = WithPluginConfig(config, own)
	}
	if err != nil {
		return "", err
	}
	// JSON is YAML, too.
	if err := writeJSON(filepath.Join(dir, "scheduler.yaml"), scheduler); err != nil {
		return "", err
	}
	path := filepath.Join(dir, "script.yaml")
	return path, writeJSON(path, []any{script.Case})
}

// render writes what a template of testdata makes of values.
func render(path, name string, values map[string]any) error {
	text, err := template.New(name).ParseFiles(filepath.Join("testdata", name))
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

// figures returns the figures of a run, of which upstream left some in a folder.
func (c *cluster) figures(dir string) (*Figures, error) {
	f, err := readFigures(dir)
	if err != nil {
		return nil, err
	}
	f.Nodes = c.after.nodes
	f.Pods = int(c.after.scheduled - c.before.scheduled)
	if f.Pods == 0 {
		return nil, fmt.Errorf("no pod was scheduled from one observation to the other")
	}
	perPod := 1 / float64(f.Pods)
	if f.PodsPerSecond == 0 {
		if !*quick {
			return nil, fmt.Errorf("all %d pods were scheduled within two seconds, too fast to measure", f.Pods)
		}
		f.PodsPerSecond = float64(f.Pods) / c.after.at.Sub(c.before.at).Seconds()
	}
	f.ProcessorMillis = (c.after.processor - c.before.processor).Seconds() * 1000 * perPod
	f.Batched = (c.after.batched - c.before.batched) * perPod
	f.Refused = int(c.after.refused - c.before.refused)
	f.Solved = int(c.after.solved - c.before.solved)

	file, err := os.Open(c.profile)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	samples, err := profile.Parse(file)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", c.profile, err)
	}
	split, err := SplitSamples(samples)
	if err != nil {
		return nil, err
	}
	f.split(split)
	return f, nil
}

// readFigures reads the figures from the one JSON file that upstream's benchmark left in a folder.
func readFigures(dir string) (*Figures, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, err
	}
	if len(files) != 1 {
		return nil, fmt.Errorf("want one JSON file of scheduler_perf, got %q", files)
	}
	data, err := os.ReadFile(files[0])
	if err != nil {
		return nil, err
	}
	var items schedulerperf.DataItems
	if err := json.Unmarshal(data, &items); err != nil {
		return nil, fmt.Errorf("reading %s: %w", files[0], err)
	}
	return &Figures{
		PodsPerSecond:  average(items, "SchedulingThroughput", ""),
		PreScoreMillis: average(items, extensionPointDuration, "PreScore"),
		ScoreMillis:    average(items, extensionPointDuration, "Score"),
	}, nil
}

// average returns the average of a metric at an extension point, 0 if there is none.
func average(items schedulerperf.DataItems, metric, extensionPoint string) float64 {
	for _, item := range items.DataItems {
		if item.Labels["Metric"] == metric && (extensionPoint == "" || item.Labels["extension_point"] == extensionPoint) {
			return item.Data["Average"]
		}
	}
	return 0
}
