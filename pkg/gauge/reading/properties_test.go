package reading_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"loadline.dev/loadline/pkg/gauge/reading"
	"loadline.dev/loadline/pkg/gauge/usage"
)

// anyTime draws a counter: mostly of an order that a node has, sometimes absurd.
func anyTime(t *rapid.T, label string) time.Duration {
	limit := rapid.SampledFrom([]time.Duration{0, ms, second, 100 * second, math.MaxInt64}).Draw(t, label+" limit")
	return time.Duration(rapid.Int64Range(0, int64(limit)).Draw(t, label))
}

func anyCounter(t *rapid.T, label string) time.Duration {
	if rapid.Bool().Draw(t, label+" known") {
		return anyTime(t, label)
	}
	return unknown
}

// anyReading draws a possible reading: each task id is unique, anything else is arbitrary.
func anyReading(t *rapid.T, since time.Duration) *reading.Reading {
	r := at(since)
	r.CPUs = rapid.IntRange(1, 64).Draw(t, "cpus")
	r.Busy, r.Stolen = anyTime(t, "busy"), anyTime(t, "stolen")
	r.BlockedKnown = rapid.Bool().Draw(t, "blocked known")
	r.Disks = anyDisks(t)
	id := 0
	for i := range rapid.IntRange(0, 4).Draw(t, "pods") {
		pod := reading.Pod{
			UID: fmt.Sprint(i), Usage: anyCounter(t, "usage"), Throttled: anyCounter(t, "throttled"), Pressure: anyCounter(t, "pressure"),
			DiskPressure: anyPressure(t), MemoryPressure: anyPressure(t), Disks: anyPodDisks(t), DiskLimits: anyDiskLimits(t),
		}
		for j := range rapid.IntRange(0, 3).Draw(t, "groups") {
			group := reading.Group{
				ID: []string{"", "c", "d"}[j], Usage: anyCounter(t, "usage"), Throttled: anyCounter(t, "throttled"), Held: anyCounter(t, "held"),
			}
			for range rapid.IntRange(0, 4).Draw(t, "tasks") {
				id += rapid.IntRange(1, 2).Draw(t, "id")
				group.Tasks = append(group.Tasks, reading.Task{
					ID: id, Parent: rapid.IntRange(0, 12).Draw(t, "parent"), CPU: rapid.IntRange(0, 63).Draw(t, "cpu"),
					Start: rapid.SampledFrom([]time.Duration{0, second, 1001 * second, 1005 * second, 2000 * second}).Draw(t, "start"),
					Seen:  time.Duration(rapid.Int64Range(0, int64(100*ms)).Draw(t, "seen")),
					Run:   anyTime(t, "run"), Wait: anyTime(t, "wait"), Blocked: anyTime(t, "blocked"), Slices: 1,
					Sleeps: rapid.SampledFrom([]int64{reading.Uncounted, 0, 1, 1000, math.MaxInt64}).Draw(t, "sleeps"),
					Moves:  rapid.SampledFrom([]int64{reading.Uncounted, 0, 1, 1000, math.MaxInt64}).Draw(t, "moves"),
					Pause:  rapid.Bool().Draw(t, "pause"),
				})
			}
			pod.Groups = append(pod.Groups, group)
		}
		r.Pods = append(r.Pods, pod)
	}
	return r
}

func anyPressure(t *rapid.T) *reading.Pressure {
	if rapid.Bool().Draw(t, "no pressure") {
		return nil
	}
	return &reading.Pressure{Some: anyTime(t, "some"), Full: anyCounter(t, "full")}
}

func anyCount(t *rapid.T, label string) int64 { return int64(anyTime(t, label)) }

func anyNumber(t *rapid.T) reading.Number {
	return reading.Number{Major: 8, Minor: rapid.Uint32Range(0, 4).Draw(t, "minor")}
}

// anyDisks draws disks of any number, also with the same one twice.
func anyDisks(t *rapid.T) (disks []reading.Disk) {
	transfers := func() reading.Transfers {
		return reading.Transfers{Operations: anyCount(t, "operations"), Bytes: anyCount(t, "bytes"), Time: anyTime(t, "time")}
	}
	for range rapid.IntRange(0, 4).Draw(t, "disks") {
		number := anyNumber(t)
		disks = append(disks, reading.Disk{
			Name: fmt.Sprint("sd", rapid.IntRange(0, 4).Draw(t, "name")), Number: number, Whole: rapid.Bool().Draw(t, "whole"),
			Reads: transfers(), Writes: transfers(), Flushes: transfers(), Busy: anyTime(t, "busy"), Queued: anyTime(t, "queued"),
		})
	}
	return disks
}

func anyPodDisks(t *rapid.T) (disks []reading.PodDisk) {
	for range rapid.IntRange(0, 4).Draw(t, "disks of the pod") {
		disks = append(disks, reading.PodDisk{
			Number: anyNumber(t), ReadOperations: anyCount(t, "reads"), WriteOperations: anyCount(t, "writes"), ReadBytes: anyCount(t, "read"), WriteBytes: anyCount(t, "written"),
		})
	}
	return disks
}

func anyDiskLimits(t *rapid.T) (limits []reading.DiskLimit) {
	for range rapid.IntRange(0, 2).Draw(t, "limits") {
		limits = append(limits, reading.DiskLimit{Number: anyNumber(t), ReadOperations: anyCount(t, "iops"), ReadBytes: anyCount(t, "bps")})
	}
	return limits
}

// What pods did at a disk is what it did, as long as nothing else uses it.
func TestTheDisksOfPodsAddUpToThoseOfTheNode(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		before, after := at(0), at(10*second)
		var was, is reading.Disk
		for i := range rapid.IntRange(1, 5).Draw(t, "pods") {
			grows := func(from, to *int64, label string) int64 {
				*from = rapid.Int64Range(0, 1e6).Draw(t, label)
				*to = *from + rapid.Int64Range(0, 1e6).Draw(t, label+" more")
				return *from
			}
			first, then := reading.Pod{UID: fmt.Sprint(i), Usage: second}, reading.Pod{UID: fmt.Sprint(i), Usage: 2 * second}
			var a, b reading.PodDisk
			was.Reads.Operations += grows(&a.ReadOperations, &b.ReadOperations, "reads")
			was.Writes.Operations += grows(&a.WriteOperations, &b.WriteOperations, "writes")
			was.Reads.Bytes += grows(&a.ReadBytes, &b.ReadBytes, "read")
			was.Writes.Bytes += grows(&a.WriteBytes, &b.WriteBytes, "written")
			is.Reads.Operations, is.Writes.Operations = is.Reads.Operations+b.ReadOperations, is.Writes.Operations+b.WriteOperations
			is.Reads.Bytes, is.Writes.Bytes = is.Reads.Bytes+b.ReadBytes, is.Writes.Bytes+b.WriteBytes
			first.Disks, then.Disks = []reading.PodDisk{a}, []reading.PodDisk{b}
			before.Pods, after.Pods = append(before.Pods, first), append(after.Pods, then)
		}
		was.Name, is.Name, was.Whole, is.Whole = "sda", "sda", true, true
		before.Disks, after.Disks = []reading.Disk{was}, []reading.Disk{is}
		v := reading.Between(before, after, "worker-1", nil)
		var pods usage.PodDisk
		for i := range v.Pods {
			for _, d := range v.Pods[i].Disks {
				pods.ReadOperations, pods.WriteOperations = pods.ReadOperations+d.ReadOperations, pods.WriteOperations+d.WriteOperations
				pods.ReadBytes, pods.WriteBytes = pods.ReadBytes+d.ReadBytes, pods.WriteBytes+d.WriteBytes
			}
		}
		var node usage.PodDisk
		for _, d := range v.Disks {
			node = usage.PodDisk{ReadOperations: d.Reads.Operations, ReadBytes: d.Reads.Bytes, WriteOperations: d.Writes.Operations, WriteBytes: d.Writes.Bytes}
		}
		if node.ReadOperations+node.WriteOperations > 0 && pods != node {
			t.Errorf("the pods did %+v, the disk %+v", pods, node)
		}
	})
}

func TestWhateverTheReadingsTheIntervalIsValidAndItsSumsAreRight(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		span := time.Duration(rapid.Int64Range(int64(time.Microsecond), int64(20*second)).Draw(t, "span"))
		interval := reading.Between(anyReading(t, 0), anyReading(t, span), "worker-1", nil)
		if err := interval.Validate(); err != nil {
			t.Fatal(err)
		}
		for _, pod := range interval.Pods {
			var parts usage.Times
			for _, c := range pod.Containers {
				parts.Run += c.Run
				parts.Unseen += c.Unseen
				parts.Wait += c.Wait
				parts.Throttled += c.Throttled
				parts.Blocked += c.Blocked
				within(t, "containers of "+pod.UID, c.Times)
			}
			within(t, "pod "+pod.UID, pod.Times)
			most := pod.Times
			for name, pair := range map[string][2]float64{
				"run": {parts.Run, most.Run}, "unseen": {parts.Unseen, most.Unseen}, "wait": {parts.Wait, most.Wait},
				"throttled": {parts.Throttled, most.Throttled}, "blocked": {parts.Blocked, most.Blocked},
			} {
				if pair[0] > pair[1]+rounding(pair[1]) {
					t.Errorf("the containers of pod %s have %v of %s, the pod has %v", pod.UID, pair[0], name, pair[1])
				}
			}
			if most := interval.Seconds + 0.1; pod.BurstSeconds > most+rounding(most) { // tasks are read up to 0.1 s later
				t.Errorf("pod %s computes for %v s at a time in an interval of %v", pod.UID, pod.BurstSeconds, interval.Seconds)
			}
			if pod.Seconds > interval.Seconds {
				t.Errorf("pod %s was observed for %v s of %v", pod.UID, pod.Seconds, interval.Seconds)
			}
		}
	})
}

func within(t *rapid.T, what string, times usage.Times) {
	if times.Unseen > times.Run+rounding(times.Run) {
		t.Errorf("%s: %v unseen is more than all that ran, %v", what, times.Unseen, times.Run)
	}
}

func rounding(value float64) float64 { return 1e-9 * (1 + value) }

func TestWaitingIsKeptWhenSomeOfItIsThrottling(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var before, after []reading.Task
		var run, wait time.Duration
		for id := range rapid.IntRange(1, 10).Draw(t, "tasks") {
			ran := time.Duration(rapid.Int64Range(0, int64(5*second)).Draw(t, "run"))
			waited := time.Duration(rapid.Int64Range(0, int64(5*second)).Draw(t, "wait"))
			before, after = append(before, old(id, 0, 0)), append(after, old(id, ran, waited))
			run, wait = run+ran, wait+waited
		}
		was, is := pod(before...), pod(after...)
		was.Groups[0].Held, is.Groups[0].Held = 0, anyTime(t, "held")
		got := reading.Between(at(0, was), at(10*second, is), "worker-1", nil).Pods[0]
		if sum := got.Wait + got.Throttled; math.Abs(sum-wait.Seconds()) > rounding(sum) {
			t.Errorf("waiting and throttling are %v in all, want %v", sum, wait)
		}
		if math.Abs(got.Run-run.Seconds()) > rounding(got.Run) {
			t.Errorf("ran %v, want %v", got.Run, run)
		}
	})
}
