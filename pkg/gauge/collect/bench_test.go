package collect_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"runtime/metrics"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"loadline.dev/loadline/pkg/gauge/collect"
	"loadline.dev/loadline/pkg/gauge/collected"
	"loadline.dev/loadline/pkg/gauge/usage"
)

// BenchmarkRound collects from 5,000 gauges, each of 30 pods and of the three intervals of a round, as the simulated gauges serve
// them: compressed. The server is in the same process, and so part of both figures, with some 20 MiB of answers. In keeping, the
// collected intervals are kept as the manager keeps them, when its memory is full.
func BenchmarkRound(b *testing.B) {
	b.Run("alone", func(b *testing.B) { benchmarkRound(b, false) })
	b.Run("keeping", func(b *testing.B) { benchmarkRound(b, true) })
}

func benchmarkRound(b *testing.B, keeping bool) {
	b.Helper()
	const gauges, pods, intervals = 5000, 30, 3
	c := newCluster(b)
	report := usage.Report{AgeSeconds: 1}
	for n := range intervals {
		v := interval("THE-NODE", n, time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
		v.Pods = nil
		for k := range pods {
			v.Pods = append(v.Pods, pod(k))
		}
		report.Intervals = append(report.Intervals, v)
	}
	text, err := json.Marshal(report)
	if err != nil {
		b.Fatal(err)
	}
	for n := range gauges {
		node := fmt.Sprintf("node-%d", n)
		packed := pack(b, onNode(n, strings.ReplaceAll(string(text), "THE-NODE", node)))
		c.add(node, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(packed)
		})
	}
	sampler := &heap{}
	if keeping {
		sampler.kept = filled(c, &report)
	}
	c.collector.Receiver = sampler
	runtime.GC()
	for b.Loop() {
		if round := c.round(b, collect.Period); round.Failed > 0 || round.Asked != gauges {
			b.Fatalf("the round is %+v", round)
		}
		if keeping {
			sampler.kept.EndRound(nil)
		}
	}
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "s/round")
	b.ReportMetric(float64(sampler.most)/(1<<20), "MiB-heap")
}

// filled returns a history of the gauges of a cluster that has had the intervals of a report many times.
func filled(c *cluster, report *usage.Report) *collected.History {
	kept := collected.New(c.clock)
	for range 20 {
		c.clock.Step(collect.Period)
		for i, g := range c.gauges {
			o := &collect.Observed{Gauge: g, Ended: c.clock.Now()}
			for _, v := range report.Intervals {
				v.Node, v.Pods = g.Node, slices.Clone(v.Pods)
				for k := range v.Pods {
					v.Pods[k].UID, v.Pods[k].Name = onNode(i, v.Pods[k].UID), onNode(i, v.Pods[k].Name)
				}
				o.Intervals = append(o.Intervals, v)
			}
			kept.Add(o)
		}
		kept.EndRound(nil)
	}
	return kept
}

// onNode makes the UIDs of pods in a text differ from those of other nodes.
func onNode(n int, text string) string {
	return strings.ReplaceAll(text, "-0000-4000-", fmt.Sprintf("-%04d-4000-", n))
}

// pack packs a text as gauges do.
func pack(b *testing.B, text string) []byte {
	b.Helper()
	var packed bytes.Buffer
	w, _ := gzip.NewWriterLevel(&packed, gzip.BestSpeed)
	_, err := io.WriteString(w, text)
	if err := errors.Join(err, w.Close()); err != nil {
		b.Fatal(err)
	}
	return packed.Bytes()
}

// heap samples the heap, and keeps the largest.
type heap struct {
	kept  *collected.History // nil for none
	mutex sync.Mutex
	most  uint64
}

func (h *heap) Receive(_ context.Context, o *collect.Observed) {
	if h.kept != nil {
		h.kept.Add(o)
	}
	h.mutex.Lock()
	defer h.mutex.Unlock()
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	h.most = max(h.most, sample[0].Value.Uint64())
}
