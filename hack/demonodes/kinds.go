package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// standard is the name of a standard job of loadline-probe.
type standard string

const (
	cpu       standard = "cpu"
	diskRead  standard = "disk-read"
	diskWrite standard = "disk-write"
)

// kind is a kind of job. A synthetic one goes in rounds of which each computes, is at
// the disk and idles, for so long in the mean if nobody else is on the node. Bursts
// are of 20 to 50 ms.
type kind struct {
	name            string
	cpu, disk, idle time.Duration
	// compresses is the FileComp-like job, which has no such rounds.
	compresses bool
}

const ms = time.Millisecond

// kinds are those that are measured and mixed.
func kinds() []kind {
	return []kind{
		{name: "cpu", cpu: 40 * ms},
		{name: "cpu-75", cpu: 45 * ms, idle: 15 * ms},
		{name: "cpu-50", cpu: 30 * ms, idle: 30 * ms},
		{name: "cpu-25", cpu: 20 * ms, idle: 60 * ms},
		{name: "cpu-60-disk-40", cpu: 36 * ms, disk: 24 * ms},
		{name: "cpu-30-disk-60", cpu: 20 * ms, disk: 40 * ms, idle: 6670 * time.Microsecond},
		{name: "disk", disk: 40 * ms},
		{name: "filecomp", compresses: true},
	}
}

// kindOf returns the kind of that name. It panics if there is none: names are ours.
func kindOf(name string) kind {
	for _, k := range kinds() {
		if k.name == name {
			return k
		}
	}
	panic("demonodes: there is no kind of job named " + name)
}

// usesDisk tells whether the job is at the disk at all.
func (k kind) usesDisk() bool { return k.compresses || k.disk > 0 }

// resources names the resources of vectors, in their order.
func resources() []string { return []string{"cpu", "disk"} }

// speeds are how many units of work a second holds on a node with nobody else.
type speeds struct {
	CPU   float64 `json:"cpu"`
	Disk  float64 `json:"disk"`
	Files float64 `json:"files"` // of the FileComp-like job
}

// job is one run of a kind: how long it takes alone, and the seed of its bursts.
// Jobs of one seed are the same work.
type job struct {
	kind
	seconds float64
	seed    int
}

// command is what the container of the job runs.
func (j job) command(v speeds, disk string) []string {
	if j.compresses {
		return []string{
			"filecomp", "--files", strconv.Itoa(max(1, int(math.Round(j.seconds*v.Files)))), "--seed", strconv.Itoa(j.seed), "--dir", scratch,
		}
	}
	var demands, units []string
	for _, d := range []struct {
		job    standard
		demand time.Duration
		speed  float64
	}{{cpu, j.cpu, v.CPU}, {standard(disk), j.disk, v.Disk}} {
		if d.demand > 0 {
			demands = append(demands, fmt.Sprintf("%s=%v", d.job, d.demand))
			units = append(units, fmt.Sprintf("%s=%.6g", d.job, d.speed))
		}
	}
	round := j.cpu + j.disk + j.idle
	return []string{
		"loadline-probe", "load", "--demand", strings.Join(demands, ","), "--units-per-second", strings.Join(units, ","),
		"--idle", j.idle.String(), "--rounds", strconv.Itoa(max(1, int(math.Round(j.seconds/round.Seconds())))),
		"--distribution", "exponential", "--seed", strconv.Itoa(j.seed), "--dir", scratch, "--size", scratchSize,
	}
}
