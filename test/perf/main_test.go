//go:build perf

package perf

import (
	"flag"
	"fmt"
	"os"
	"testing"

	_ "k8s.io/component-base/logs/json/register" // --logging-format=json
	schedulerperf "k8s.io/kubernetes/test/integration/scheduler_perf"
)

// What to run; beside these flags there are those of upstream's benchmark.
var (
	pairs = flag.Int("perf-pairs", 3, "how often to run each scheduler configuration, at least 1")
	nodes = flag.Int("perf-nodes", 5000, "nodes of each cluster, at least 1")
	pods  = flag.Int("perf-pods", 10000, "pods whose scheduling is measured, half of them in some topics; enough for several seconds")
	quick = flag.Bool("perf-quick", false, "one pair, 500 nodes and 3000 pods: shows that the benchmark works, measures little")
	names = flag.String("perf-topics", "", "names of the topics to run, separated by commas (default all, see topics.go)")
	out   = flag.String("perf-out", "../../out/perf", "folder for scheduling.json, and for the logs of a run that failed")
)

// chosen are the topics to run.
var chosen []Topic

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
	if *quick {
		*pairs, *nodes, *pods = 1, 500, 3000
	}
	if *pairs < 1 || *nodes < 1 || *pods < 1 {
		return fmt.Errorf("-perf-pairs=%d -perf-nodes=%d -perf-pods=%d: each must be at least 1", *pairs, *nodes, *pods)
	}
	// A run schedules all its pods once, however long that takes.
	return flag.Set("test.benchtime", "1x")
}
