package sizing

import "fmt"

// Discipline is the order in which a pool takes jobs that wait.
type Discipline int

// The disciplines.
const (
	// FCFS takes jobs in order of arrival.
	FCFS Discipline = iota
	// HOL, head of the line, takes jobs of higher classes first, and of one class in
	// order of arrival. All classes must have the same rate of exponential service.
	HOL
	// PDP, probability dependent priority, takes a job of the class with the largest
	// P = y − τ first, y being the probability of its SLA and τ the fraction of its
	// completed jobs that met the time of it: section 4.2 of Hu et al.
	PDP
	// LateLast is PDP in which jobs that have already waited longer than the time of
	// their SLA come after all others. WARNING: it meets SLAs with fewer servers by
	// giving up on jobs that are late already. These may wait very long; choose it only
	// where a late answer is worth nothing.
	LateLast
)

var disciplines = [...]string{"FCFS", "HOL", "PDP", "LateLast"}

// String returns the discipline's name.
func (d Discipline) String() string {
	if d < 0 || int(d) >= len(disciplines) {
		return fmt.Sprintf("Discipline(%d)", int(d))
	}
	return disciplines[d]
}

// Simulated reports whether answers come from simulation.
func (d Discipline) Simulated() bool { return d == PDP || d == LateLast }
