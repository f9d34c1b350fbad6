package realnode

import (
	"fmt"
	"os"
	"strings"

	"k8s.io/utils/cpuset"
)

// plan says who runs where.
type plan struct {
	all     cpuset.CPUSet   // every core of the machine that is in use
	workers []cpuset.CPUSet // the core of each worker
	others  cpuset.CPUSet   // where everything else runs
}

// planCores gives each worker a core, the lowest first, and everything else the cores that remain, or, when none does,
// the last worker's, so that worker-1 is disturbed last. The error says that there are too few.
func planCores(all cpuset.CPUSet, workers int) (plan, error) {
	if all.Size() < max(2, workers) {
		return plan{}, fmt.Errorf("%d cores (%v): %d workers with a core each, and something for everything else, need %d", all.Size(), all, workers, max(2, workers))
	}
	p := plan{all: all, others: all}
	for _, core := range all.List()[:workers] {
		p.workers = append(p.workers, cpuset.New(core))
		p.others = p.others.Difference(cpuset.New(core))
	}
	if p.others.IsEmpty() {
		p.others = p.workers[workers-1]
	}
	return p, nil
}

// onlineCores returns the cores that are in use.
func onlineCores() (cpuset.CPUSet, error) {
	const path = "/sys/devices/system/cpu/online"
	text, err := os.ReadFile(path)
	if err != nil {
		return cpuset.CPUSet{}, err
	}
	cores, err := cpuset.Parse(strings.TrimSpace(string(text)))
	if err != nil {
		return cpuset.CPUSet{}, fmt.Errorf("%s: %w", path, err)
	}
	return cores, nil
}
