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
	network   standard = "network"
)

// device is the second resource that jobs use, besides the CPU: that of a standard job.
type device struct {
	job standard
	// peer is where the sink of the network is.
	peer string
	// service is how long the device serves a unit of work, if that is known; 0 if not.
	service time.Duration
}

// devices are the standard jobs that a second resource can have.
func devices() []standard { return []standard{network, diskRead, diskWrite} }

// resource is what profiles call the resource.
func (d device) resource() string {
	if d.job == network {
		return "network"
	}
	return "disk"
}

// flags are those by which jobs find the device.
func (d device) flags() []string {
	if d.job == network {
		return []string{"--peer", d.peer}
	}
	return []string{"--dir", scratch, "--size", scratchSize}
}

// kind is a kind of job. A synthetic one goes in rounds of which each computes, is at
// the device and idles, for these times on average if no other job is on the node. Bursts
// are of 20 to 50 ms.
type kind struct {
	name          string
	cpu, io, idle time.Duration
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
		{name: "cpu-60-io-40", cpu: 36 * ms, io: 24 * ms},
		{name: "cpu-30-io-60", cpu: 20 * ms, io: 40 * ms, idle: 6670 * time.Microsecond},
		{name: "io", io: 40 * ms},
		{name: "filecomp", compresses: true},
	}
}

func kindNames() []string {
	var names []string
	for _, k := range kinds() {
		names = append(names, k.name)
	}
	return names
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

// usesDevice reports whether the job is at the device at all.
func (k kind) usesDevice() bool { return k.compresses || k.io > 0 }

// resources names the resources of vectors, in their order.
func (d device) resources() []string { return []string{"cpu", d.resource()} }

// speeds are how many units of work a second holds on a node without other jobs.
type speeds struct {
	CPU   float64 `json:"cpu"`
	IO    float64 `json:"io"`
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
func (j job) command(v speeds, d device) []string {
	if j.compresses {
		command := []string{
			"filecomp", "--files", strconv.Itoa(max(1, int(math.Round(j.seconds*v.Files)))), "--seed", strconv.Itoa(j.seed), "--dir", scratch,
		}
		if d.job == network {
			command = append(command, "--peer", d.peer)
		}
		return command
	}
	var demands, units []string
	for _, each := range []struct {
		job    standard
		demand time.Duration
		speed  float64
	}{{cpu, j.cpu, v.CPU}, {d.job, j.io, v.IO}} {
		if each.demand > 0 {
			demands = append(demands, fmt.Sprintf("%s=%v", each.job, each.demand))
			units = append(units, fmt.Sprintf("%s=%.6g", each.job, each.speed))
		}
	}
	round := j.cpu + j.io + j.idle
	return append([]string{
		"loadline-probe", "load", "--demand", strings.Join(demands, ","), "--units-per-second", strings.Join(units, ","),
		"--idle", j.idle.String(), "--rounds", strconv.Itoa(max(1, int(math.Round(j.seconds/round.Seconds())))),
		"--distribution", "exponential", "--seed", strconv.Itoa(j.seed),
	}, d.flags()...)
}
