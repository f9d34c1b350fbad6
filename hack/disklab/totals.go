package main

// totals are what a job counts itself, from its start.
type totals struct {
	// At is the time by the monotonic-free clock of all processes, in nanoseconds.
	At int64 `json:"at"`
	// Units are the units of work that are done: operations with the thinking and computing before.
	Units int64 `json:"units"`
	// Latency is the sum over operations of how long they took by the job's own clock, and Blocked for how long at least one was under way.
	Latency float64 `json:"latency"`
	Blocked float64 `json:"blocked"`
	// CPU is the CPU time of the process.
	CPU float64 `json:"cpu"`
}

// since returns what came since earlier totals.
func (t totals) since(before totals) totals {
	return totals{
		At: t.At - before.At, Units: t.Units - before.Units,
		Latency: t.Latency - before.Latency, Blocked: t.Blocked - before.Blocked, CPU: t.CPU - before.CPU,
	}
}
