//go:build perf

package perf

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	_ "k8s.io/component-base/logs/json/register" // --logging-format=json
	schedulerperf "k8s.io/kubernetes/test/integration/scheduler_perf"
)

// What to run; beside these flags there are those of upstream's benchmark.
var (
	pairs    = flag.Int("perf-pairs", 5, "how often to run each scheduler configuration, at least 1")
	variants = flag.String("perf-variants", "", "names of the scheduler configurations to compare with the default, separated by commas: added, shipped (default both)")
	names    = flag.String("perf-topics", "", "names of the topics to run, or of folders of upstream, separated by commas (default all, see topics.go)")
	nodes    = flag.Int("perf-nodes", 5000, "nodes of each cluster in topics of ours, at least 1")
	pods     = flag.Int("perf-pods", 10000, "pods whose scheduling is measured in topics of ours, or half of them; enough for several seconds")
	quick    = flag.Bool("perf-quick", false, "one pair, 500 nodes and 3000 pods, and upstream's smallest workloads: shows that the benchmark works, measures nothing")
	out      = flag.String("perf-out", "../../out/perf", "folder for scheduling.json, and for what each run leaves in its folder runs")
	single   = flag.String("perf-run", "", "run only this scheduler configuration, once, in this process; with one topic")
	runName  = flag.String("perf-run-name", "", "name of the files that a run with -perf-run leaves (default that of the topic and of the configuration)")
)

// chosen are the topics to run, and compared the variants.
var (
	chosen   []Topic
	compared []Variant
)

func TestMain(m *testing.M) {
	if err := initialize(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	os.Exit(m.Run())
}

func initialize() error {
	if err := schedulerperf.InitTests(); err != nil { // parses the flags
		return err
	}
	var err error
	if chosen, err = FindTopics(*names); err != nil {
		return fmt.Errorf("-perf-topics=%s: %w", *names, err)
	}
	if compared, err = FindVariants(strings.FieldsFunc(*variants, func(r rune) bool { return r == ',' })); err != nil {
		return fmt.Errorf("-perf-variants=%s: %w", *variants, err)
	}
	if *quick {
		*pairs, *nodes, *pods = 1, 500, 3000
	}
	if *pairs < 1 || *nodes < 1 || *pods < 1 {
		return fmt.Errorf("-perf-pairs=%d -perf-nodes=%d -perf-pods=%d: each must be at least 1", *pairs, *nodes, *pods)
	}
	if f := flag.Lookup("test.cpuprofile"); f != nil && f.Value.String() != "" {
		return errors.New("-cpuprofile: each run takes its own profile, which it leaves in the folder runs of -perf-out")
	}
	if *single != "" {
		if _, err := FindVariants([]string{*single}); err != nil {
			return fmt.Errorf("-perf-run=%s: %w", *single, err)
		}
		if len(chosen) != 1 {
			return fmt.Errorf("-perf-run=%s: choose one topic by -perf-topics", *single)
		}
	}
	// A run schedules all its pods once, however long that takes.
	return flag.Set("test.benchtime", "1x")
}
