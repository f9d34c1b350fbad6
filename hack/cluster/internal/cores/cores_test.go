package cores

import (
	"strings"
	"testing"

	"k8s.io/utils/cpuset"
)

func TestEachWorkerHasItsCoreAndEverythingElseTheOthers(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		cores   string
		workers int
		plan    string // workers, then everything else
	}{
		"cores to spare":                      {"0-3", 2, "0 1, else 2-3"},
		"none to spare: the last worker's":    {"0-1", 2, "0 1, else 1"},
		"one worker is never disturbed":       {"0-1", 1, "0, else 1"},
		"cores that are not numbered in line": {"2,5,7", 2, "2 5, else 7"},
	} {
		p, err := Divide(set(t, test.cores), test.workers)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var workers []string
		for _, worker := range p.Workers {
			workers = append(workers, worker.String())
		}
		if got := strings.Join(workers, " ") + ", else " + p.Others.String(); got != test.plan {
			t.Errorf("%s: got %s, want %s", name, got, test.plan)
		}
	}
}

func TestTooFewCoresAreCounted(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		cores   string
		workers int
		want    string
	}{
		"fewer than workers":         {"0-2", 4, "3 cores (0-2): 4 workers with one each, and something for everything else, need 4"},
		"nowhere for the kubelet":    {"0", 1, "need 2"},
		"workers on a single core":   {"0", 3, "need 3"},
		"no cores, which none lacks": {"", 1, "0 cores"},
	} {
		if _, err := Divide(set(t, test.cores), test.workers); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %q", name, err, test.want)
		}
	}
}

func set(t *testing.T, text string) cpuset.CPUSet {
	t.Helper()
	cores, err := cpuset.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return cores
}
