package realnode

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"k8s.io/utils/cpuset"
)

// plan says who runs where.
type plan struct {
	all     cpuset.CPUSet   // every core of the machine that is in use
	workers []cpuset.CPUSet // the cores of each worker
	others  cpuset.CPUSet   // where everything else runs
}

// planCores gives each worker that many cores, the lowest first, and everything else the cores that remain, or, when none
// does, the last worker's, so that worker-1 is disturbed last. The error says that there are too few.
func planCores(all cpuset.CPUSet, workers, each int) (plan, error) {
	if need := max(2, workers*each); all.Size() < need {
		return plan{}, fmt.Errorf("%d cores (%v): %d workers with %d each, and something for everything else, need %d",
			all.Size(), all, workers, each, need)
	}
	p := plan{all: all, others: all}
	for cores := range slices.Chunk(all.List()[:workers*each], each) {
		p.workers = append(p.workers, cpuset.New(cores...))
		p.others = p.others.Difference(cpuset.New(cores...))
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
