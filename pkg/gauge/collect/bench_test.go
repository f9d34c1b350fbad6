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
	"strings"
	"sync"
	"testing"
	"time"

	"loadline.dev/loadline/pkg/gauge/collect"
	"loadline.dev/loadline/pkg/gauge/usage"
)

// BenchmarkRound collects from 5,000 gauges, each of 30 pods and of the three intervals of a round, as the simulated gauges
// serve them: packed. The server is in the same process, and so part of both figures, with some 20 MiB of answers.
func BenchmarkRound(b *testing.B) {
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
		packed := pack(b, strings.ReplaceAll(string(text), "THE-NODE", node))
		c.add(node, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(packed)
		})
	}
	sampler := &heap{}
	c.collector.Receiver = sampler
	runtime.GC()
	for b.Loop() {
		if round := c.round(b, collect.Period); round.Failed > 0 || round.Asked != gauges {
			b.Fatalf("the round is %+v", round)
		}
	}
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "s/round")
	b.ReportMetric(float64(sampler.most)/(1<<20), "MiB-heap")
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
	mutex sync.Mutex
	most  uint64
}

func (h *heap) Receive(context.Context, *collect.Observed) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	h.most = max(h.most, sample[0].Value.Uint64())
}
