// Package cores divides the processors of a machine among nodes, so that pods of one node do not slow down those of another.
package cores

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"k8s.io/utils/cpuset"
)

// Plan says who runs where.
type Plan struct {
	// All are the machine's cores that are in use.
	All cpuset.CPUSet
	// Workers are the cores of each worker.
	Workers []cpuset.CPUSet
	// Others are where everything else runs.
	Others cpuset.CPUSet
}

// Divide gives each worker that many cores, the lowest first, and everything else the cores that remain, or, when none
// does, the last worker's, so that worker-1 is disturbed last. The error says that there are too few.
func Divide(all cpuset.CPUSet, workers, each int) (Plan, error) {
	if need := max(2, workers*each); all.Size() < need {
		return Plan{}, fmt.Errorf("%d cores (%v): %d workers with %d each, and something for everything else, need %d",
			all.Size(), all, workers, each, need)
	}
	p := Plan{All: all, Others: all}
	for cores := range slices.Chunk(all.List()[:workers*each], each) {
		p.Workers = append(p.Workers, cpuset.New(cores...))
		p.Others = p.Others.Difference(cpuset.New(cores...))
	}
	if p.Others.IsEmpty() {
		p.Others = p.Workers[workers-1]
	}
	return p, nil
}

// Online returns the cores of this machine that are in use.
func Online() (cpuset.CPUSet, error) {
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
