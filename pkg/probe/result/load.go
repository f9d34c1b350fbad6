package result

import "fmt"

// Load is a synthetic job that ran: rounds of work at each resource in turn, then of
// idleness.
type Load struct {
	Version int `json:"version"`
	// BootID is the kernel's boot id.
	BootID string `json:"bootID"`
	// Begin and End are when the first round began and the last one ended.
	Begin int64 `json:"begin"`
	End   int64 `json:"end"`
	// Rounds is how many rounds were done in full.
	Rounds int `json:"rounds"`
	// Demands is what was done at each resource.
	Demands []Served `json:"demands"`
	// IdleNanos is how long the job meant to be idle, IdledNanos how long it was, in
	// nanoseconds.
	IdleNanos  int64 `json:"idleNanos"`
	IdledNanos int64 `json:"idledNanos"`
	// CPUNanos is the CPU time of the process from Begin to End, in nanoseconds.
	CPUNanos int64 `json:"cpuNanos"`
	// Ended is [EndedUnits], or [EndedTerminated] if a signal ended it.
	Ended string `json:"ended"`
}

// Served is what a synthetic job did at one resource.
type Served struct {
	// Job is the standard job whose units were done, one of [Jobs].
	Job string `json:"job"`
	// Units is how many.
	Units uint64 `json:"units"`
	// UnitsPerSecond is how many a second holds alone on the node, so that
	// Units/UnitsPerSecond is the service demand in seconds.
	UnitsPerSecond float64 `json:"unitsPerSecond"`
	// Nanos is how long they took, in nanoseconds.
	Nanos int64 `json:"nanos"`
}

// ParseLoad reads what [Encode] made of a load. Its errors name the field, or are
// [ErrTruncated].
func ParseLoad(message string) (Load, error) { return parse[Load](message) }

func (l Load) validate() error {
	var rules rules
	rules.bootID(l.BootID)
	rules.notNegative("begin", l.Begin)
	rules.require(l.End >= l.Begin, "end: %d is before begin, %d", l.End, l.Begin)
	rules.notNegative("rounds", int64(l.Rounds))
	for i, d := range l.Demands {
		field := fmt.Sprintf("demands[%d].", i)
		rules.job(field+"job", d.Job)
		rules.amount(field+"unitsPerSecond", d.UnitsPerSecond)
		rules.notNegative(field+"nanos", d.Nanos)
	}
	rules.notNegative("idleNanos", l.IdleNanos)
	rules.notNegative("idledNanos", l.IdledNanos)
	rules.notNegative("cpuNanos", l.CPUNanos)
	rules.ended(l.Ended)
	return rules.err()
}
