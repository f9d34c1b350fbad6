package collected

import (
	"fmt"
	"io"
	"runtime"
	"testing"
	"time"

	"loadline.dev/loadline/pkg/gauge/collect"
	"loadline.dev/loadline/pkg/gauge/usage"
)

// full returns a history of 5,000 nodes with 30 pods each that is full, and a function that adds a round to it.
func full(b *testing.B) (k *kept, round func()) {
	b.Helper()
	const nodes, pods = 5000, 30
	k = newKept()
	round = func() {
		k.clock.SetTime(k.clock.Now().Add(30 * time.Second))
		for n := range nodes {
			name := fmt.Sprintf("node-%d", n)
			o := &collect.Observed{Gauge: collect.Gauge{Node: name}, Ended: k.clock.Now(), Intervals: make([]usage.Interval, 3)}
			for i := range o.Intervals {
				v := &o.Intervals[i]
				*v = usage.Interval{Node: name, Seconds: 10, CPUs: 8, BusySeconds: 40, Pods: make([]usage.Pod, pods)}
				for p := range v.Pods {
					v.Pods[p] = slow(fmt.Sprintf("%08d-0000-4000-8000-%012d", n, p))
					v.Pods[p].Name = "cart-" + v.Pods[p].UID
				}
			}
			k.Add(o)
		}
		k.EndRound(nil)
	}
	for range 40 {
		round()
	}
	return k, round
}

// BenchmarkRound adds what 5,000 gauges of 30 pods observed in half a minute.
func BenchmarkRound(b *testing.B) {
	k, round := full(b)
	for b.Loop() {
		round()
	}
	b.StopTimer()
	runtime.GC()
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	b.ReportMetric(float64(memory.HeapAlloc)/(1<<20), "MiB-heap")
	total := 0.0
	r, _ := k.Report("node-0", usage.MaxIntervals)
	for i := range r.Intervals {
		total += r.Intervals[i].Seconds
	}
	b.ReportMetric(total, "s-of-history")
}

// BenchmarkAnswer writes an answer of the last minute of 5,000 nodes of 30 pods.
func BenchmarkAnswer(b *testing.B) {
	k, _ := full(b)
	for b.Loop() {
		if err := k.write(io.Discard, 6, nil); err != nil {
			b.Fatal(err)
		}
	}
}
