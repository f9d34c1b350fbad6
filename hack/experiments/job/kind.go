// Package job has the kinds of jobs that run on nodes to be measured, how their pods do their work, and what their accounts
// of a run say.
package job

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Standard is the name of a standard job of loadline-probe.
type Standard string

// The standard jobs.
const (
	CPU       Standard = "cpu"
	DiskRead  Standard = "disk-read"
	DiskWrite Standard = "disk-write"
	Network   Standard = "network"
)

const (
	// Scratch is where jobs have their files.
	Scratch     = "/scratch"
	scratchSize = "64Mi"
)

// Device is the second resource that jobs use, besides the CPU: that of a standard job.
type Device struct {
	Job Standard
	// Peer is where the sink of the network is.
	Peer string
	// Service is how long the device serves a unit of work, if that is known; 0 if not.
	Service time.Duration
}

// Devices are the standard jobs that a second resource can have.
func Devices() []Standard { return []Standard{Network, DiskRead, DiskWrite} }

// Resource is what profiles call the resource.
func (d Device) Resource() string {
	if d.Job == Network {
		return "network"
	}
	return "disk"
}

// Resources names the resources of vectors, in their order.
func (d Device) Resources() []string { return []string{"cpu", d.Resource()} }

// Flags are those by which jobs find the device.
func (d Device) Flags() []string {
	if d.Job == Network {
		return []string{"--peer", d.Peer}
	}
	return []string{"--dir", Scratch, "--size", scratchSize}
}

// Kind is a kind of job. A synthetic one goes in rounds of which each computes, is at the device and idles, for these times
// on average if no other job is on the node. Bursts are of 20 to 50 ms.
type Kind struct {
	Name          string
	cpu, io, idle time.Duration
	// compresses is the FileComp-like job, which has no such rounds.
	compresses bool
}

const ms = time.Millisecond

// kinds are those that are measured and mixed.
func kinds() []Kind {
	return []Kind{
		{Name: "cpu", cpu: 40 * ms},
		{Name: "cpu-75", cpu: 45 * ms, idle: 15 * ms},
		{Name: "cpu-50", cpu: 30 * ms, idle: 30 * ms},
		{Name: "cpu-25", cpu: 20 * ms, idle: 60 * ms},
		{Name: "cpu-60-io-40", cpu: 36 * ms, io: 24 * ms},
		{Name: "cpu-30-io-60", cpu: 20 * ms, io: 40 * ms, idle: 6670 * time.Microsecond},
		{Name: "io", io: 40 * ms},
		{Name: "filecomp", compresses: true},
	}
}

// Kinds names the kinds that a device has: what compresses sends over a network.
func Kinds(device Standard) []string {
	var names []string
	for _, k := range kinds() {
		if !k.compresses || device == Network {
			names = append(names, k.Name)
		}
	}
	return names
}

// Of returns the kind of that name. It panics if there is none: names are ours.
func Of(name string) Kind {
	for _, k := range kinds() {
		if k.Name == name {
			return k
		}
	}
	panic("there is no kind of job named " + name)
}

// UsesDevice reports whether the job is at the device at all.
func (k Kind) UsesDevice() bool { return k.compresses || k.io > 0 }

// Speeds are how many units of work a second holds on a node without other jobs.
type Speeds struct {
	CPU   float64 `json:"cpu"`
	IO    float64 `json:"io"`
	Files float64 `json:"files"` // of the FileComp-like job
}

// Job is one run of a kind: how long it takes alone, and the seed of its bursts. Jobs of one seed are the same work.
type Job struct {
	Kind
	Seconds float64
	Seed    int
}

// Command is what the container of the job runs.
func (j Job) Command(v Speeds, d Device) []string {
	if j.compresses {
		files := max(1, int(math.Round(j.Seconds*v.Files)))
		return []string{"filecomp", "--files", strconv.Itoa(files), "--seed", strconv.Itoa(j.Seed), "--peer", d.Peer}
	}
	var demands, units []string
	for _, each := range []struct {
		job    Standard
		demand time.Duration
		speed  float64
	}{{CPU, j.cpu, v.CPU}, {d.Job, j.io, v.IO}} {
		if each.demand > 0 {
			demands = append(demands, fmt.Sprintf("%s=%v", each.job, each.demand))
			units = append(units, fmt.Sprintf("%s=%.6g", each.job, each.speed))
		}
	}
	round := j.cpu + j.io + j.idle
	return append([]string{
		"loadline-probe", "load", "--demand", strings.Join(demands, ","), "--units-per-second", strings.Join(units, ","),
		"--idle", j.idle.String(), "--rounds", strconv.Itoa(max(1, int(math.Round(j.Seconds/round.Seconds())))),
		"--distribution", "exponential", "--seed", strconv.Itoa(j.Seed),
	}, d.Flags()...)
}
