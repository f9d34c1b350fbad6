// Package cores divides the processors of a machine among nodes, so that pods of one node do not slow down those of another.
package cores

import (
	"fmt"
	"os"
	"strings"

	"k8s.io/utils/cpuset"
)

// Plan says who runs where.
type Plan struct {
	// All are the machine's cores that are in use.
	All cpuset.CPUSet
	// Workers are the cores of the workers, one each.
	Workers []cpuset.CPUSet
	// Others are where everything else runs.
	Others cpuset.CPUSet
}

// Divide gives each worker a core, the lowest first, and everything else the cores that remain, or, when none does, the last
// worker's, so that worker-1 is disturbed last. The error says that there are too few.
func Divide(all cpuset.CPUSet, workers int) (Plan, error) {
	if need := max(2, workers); all.Size() < need {
		return Plan{}, fmt.Errorf("%d cores (%v): %d workers with one each, and something for everything else, need %d", all.Size(), all, workers, need)
	}
	p := Plan{All: all, Others: all}
	for _, core := range all.List()[:workers] {
		p.Workers = append(p.Workers, cpuset.New(core))
		p.Others = p.Others.Difference(cpuset.New(core))
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
