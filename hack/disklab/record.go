package main

import (
	"loadline.dev/loadline/pkg/gauge/reading"
	"loadline.dev/loadline/pkg/gauge/usage"
)

// labNode is the name of the node that the machine of a lab is.
const labNode = "disklab"

// recorded is the document that a lab writes.
type recorded struct {
	Kernel     string      `json:"kernel"`
	Processors int         `json:"processors"`
	Device     string      `json:"device"`
	Scheduler  string      `json:"scheduler"`
	Seed       uint64      `json:"seed"`
	Seconds    float64     `json:"seconds"`
	Sweep      []run       `json:"sweep,omitempty"`
	Mixes      []mixRecord `json:"mixes,omitempty"`
	Sustained  []sustained `json:"sustained,omitempty"`
}

// sustained is a job that ran for long, to see whether the device slows down after a burst.
type sustained struct {
	Job   spec      `json:"job"`
	Units []float64 `json:"units"` // per second

	Seconds float64 `json:"seconds"`
	Pod     podRun  `json:"pod"`
	Noise   noise   `json:"noise"`
}

// mixRecord is a mix with all of its runs, and what follows from them.
type mixRecord struct {
	mix
	Runs  []run   `json:"runs"`
	Truth []truth `json:"truth"`
}

// run is some jobs of a mix that ran together for a while.
type run struct {
	// Jobs are the indices of those that ran.
	Jobs    []int   `json:"jobs"`
	Job     *spec   `json:"job,omitempty"` // of a sweep
	Seconds float64 `json:"seconds"`
	Tries   int     `json:"tries"`
	Noisy   bool    `json:"noisy,omitempty"`
	Noise   noise   `json:"noise"`
	Device  device  `json:"device"`
	// Pods are in the order of Jobs.
	Pods []podRun `json:"pods"`
	// Each are the seconds of the run: of the device operations read, operations written and milliseconds queued, then of each pod
	// its units, microseconds of latency per unit, and milliseconds of stall at the disk and at processors.
	Each [][]float64 `json:"each,omitempty"`
	// Interval is what Loadline's gauge reads of the run.
	Interval *usage.Interval `json:"interval,omitempty"`
	// Readings are those at its begin and its end.
	Readings []*reading.Reading `json:"readings,omitempty"`
}

// podRun is what a pod did in a run, by itself and by the kernel.
type podRun struct {
	Units int64 `json:"units"`
	// Latency is that of an operation by the job's own clock, and Blocked for how long at least one was under way.
	Latency float64 `json:"latency"`
	Blocked float64 `json:"blocked"`
	CPU     float64 `json:"cpu"`
	Served  served  `json:"served"`
	Disk    stall   `json:"disk"`
	Wait    stall   `json:"wait"` // for processors
	Memory  stall   `json:"memory"`
}

// rate is the units per second of a pod of the run.
func (r run) rate(pod int) float64 { return float64(r.Pods[pod].Units) / r.Seconds }
