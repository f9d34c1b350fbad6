package result

import "time"

// Watch is what an observer saw of the other containers of its pod.
type Watch struct {
	Version int `json:"version"`
	// BootID is the kernel's boot id.
	BootID string `json:"bootID"`
	// Begin is when the first of them started, 0 if none did. End is when the last
	// ended, 0 if it was still running when a signal ended the observer.
	Begin int64 `json:"begin"`
	End   int64 `json:"end"`
	// CPUNanos is how long their threads ran, WaitNanos how long they stood in the run
	// queue, in nanoseconds. What a thread did after the observer last looked is
	// missing.
	CPUNanos  int64 `json:"cpuNanos"`
	WaitNanos int64 `json:"waitNanos"`
	// StolenNanos is for how long a hypervisor kept each of the processors from the node
	// between Begin and End, in the mean, in nanoseconds.
	StolenNanos int64 `json:"stolenNanos,omitzero"`
	// ObserverNanos is for how long the observer itself ran on each of the processors
	// between Begin and End, in the mean, in nanoseconds.
	ObserverNanos int64 `json:"observerNanos,omitzero"`
	// Processes is how many processes there were.
	Processes int `json:"processes"`
	// Complete is false if processes or threads came and went between two looks, so
	// that CPUNanos and WaitNanos lack what they did.
	Complete bool `json:"complete"`
}

// Elapsed returns how long the containers ran, from the first start to the last exit;
// ok is false if they did not start or not end.
func (w Watch) Elapsed() (elapsed time.Duration, ok bool) {
	if w.Begin == 0 || w.End == 0 {
		return 0, false
	}
	return time.Duration(w.End - w.Begin), true
}

// Ready returns the fraction of the time of the containers in which threads of theirs ran
// or stood in the run queue, at most 1: as if no two did at once.
func (w Watch) Ready() float64 {
	elapsed, ok := w.Elapsed()
	if !ok || elapsed == 0 {
		return 0
	}
	return min(1, float64(w.CPUNanos+w.WaitNanos)/float64(elapsed))
}

// ParseWatch reads what [Encode] made of a watch. Its errors name the field, or are
// [ErrTruncated].
func ParseWatch(message string) (Watch, error) { return parse[Watch](message) }

func (w Watch) validate() error {
	var rules rules
	rules.bootID(w.BootID)
	rules.notNegative("begin", w.Begin)
	rules.notNegative("end", w.End)
	rules.require(w.End == 0 || w.Begin != 0 && w.End >= w.Begin, "end: %d is before begin, %d", w.End, w.Begin)
	rules.notNegative("cpuNanos", w.CPUNanos)
	rules.notNegative("waitNanos", w.WaitNanos)
	rules.notNegative("stolenNanos", w.StolenNanos)
	rules.require(w.End == 0 || w.StolenNanos < max(1, w.End-w.Begin), "stolenNanos: %d is not less than the time from begin to end", w.StolenNanos)
	rules.notNegative("observerNanos", w.ObserverNanos)
	rules.require(w.End == 0 || w.ObserverNanos < max(1, w.End-w.Begin), "observerNanos: %d is not less than the time from begin to end", w.ObserverNanos)
	rules.notNegative("processes", int64(w.Processes))
	return rules.err()
}
