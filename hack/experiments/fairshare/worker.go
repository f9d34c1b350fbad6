package main

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"time"
)

// workerArgument makes the program a worker: a process that is one workload.
const workerArgument = "worker"

// plan is what a worker reads: its jobs, and when the first moment of the run is, by
// the clock of now.
type plan struct {
	Start time.Duration
	Jobs  []job
}

// work carries a plan out, one job after the other, and writes how long each took from
// its arrival to its end, as JSON.
func work(from io.Reader, to io.Writer) error {
	var p plan
	if err := json.NewDecoder(from).Decode(&p); err != nil {
		return fmt.Errorf("reading the plan: %w", err)
	}
	runtime.LockOSThread() // whose CPU time counts
	debug.SetGCPercent(-1) // the collector is no part of the workload
	took := make([]time.Duration, len(p.Jobs))
	t, err := now()
	if err != nil {
		return err
	}
	if t > p.Start {
		return fmt.Errorf("the plan began %s ago, before it was read: the machine is too busy to measure", t-p.Start)
	}
	for i, j := range p.Jobs {
		if err := waitUntil(p.Start + j.Arrival); err != nil {
			return err
		}
		if err := burn(j.Demand); err != nil {
			return err
		}
		end, err := now()
		if err != nil {
			return err
		}
		took[i] = end - p.Start - j.Arrival
	}
	return json.NewEncoder(to).Encode(took)
}

// burn keeps the core busy until the calling thread has had so much CPU time from now
// on.
func burn(demand time.Duration) error {
	from, err := cpuTime()
	if err != nil {
		return err
	}
	for state := uint64(1); ; {
		const some = 5000 // a few microseconds
		for range some {
			state ^= state << 13
			state ^= state >> 7
			state ^= state << 17
		}
		t, err := cpuTime()
		if err != nil {
			return err
		}
		if t-from >= demand && state != 0 { // state is never 0; asking keeps the loop
			return nil
		}
	}
}
