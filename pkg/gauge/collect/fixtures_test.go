package collect_test

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	testingclock "k8s.io/utils/clock/testing"

	"loadline.dev/loadline/pkg/gauge/collect"
	gauge "loadline.dev/loadline/pkg/gauge/server"
	"loadline.dev/loadline/pkg/gauge/usage"
)

const theToken = "header.eyJhdWQiOiJsb2FkbGluZS1nYXVnZSJ9.signature" // {"aud":"loadline-gauge"}

// cluster is a cluster of gauges, which are all served by one server, by the names of their hosts.
type cluster struct {
	clock     *testingclock.FakeClock
	collector *collect.Collector
	received  received

	mutex  sync.Mutex
	gauges []collect.Gauge
	answer map[string]http.HandlerFunc // by the host of the gauge
	asked  map[string][]int            // for how many intervals, by the host of the gauge
}

// received keeps the observations that arrive, by node.
type received struct {
	mutex sync.Mutex
	by    map[string][]collect.Observed
}

func (r *received) Receive(_ context.Context, o *collect.Observed) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.by[o.Node] = append(r.by[o.Node], *o)
}

// newCluster returns a cluster without gauges.
func newCluster(t testing.TB) *cluster {
	t.Helper()
	c := &cluster{
		clock:    testingclock.NewFakeClock(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)),
		received: received{by: map[string][]collect.Observed{}}, answer: map[string]http.HandlerFunc{}, asked: map[string][]int{},
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(c.serve))
	server.TLS = &tls.Config{GetCertificate: gauge.SelfSigned("gauge", c.clock)}
	server.StartTLS()
	t.Cleanup(server.Close)
	transport := collect.NewTransport()
	transport.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, server.Listener.Addr().String())
	}
	c.collector = &collect.Collector{
		Gauges:   func(context.Context) ([]collect.Gauge, error) { return c.gauges, nil },
		Token:    func() (string, error) { return theToken, nil },
		Receiver: &c.received, Clock: c.clock, Log: logr.Discard(), Transport: transport,
	}
	return c
}

func (c *cluster) serve(w http.ResponseWriter, r *http.Request) {
	last, err := strconv.Atoi(r.URL.Query().Get("last"))
	if err != nil || r.URL.Path != "/v1/usage" || r.Header.Get("Authorization") != "Bearer "+theToken {
		http.Error(w, "no such request", http.StatusBadRequest)
		return
	}
	c.mutex.Lock()
	c.asked[r.Host] = append(c.asked[r.Host], last)
	answer := c.answer[r.Host]
	c.mutex.Unlock()
	answer(w, r)
}

// add adds the gauge of a node.
func (c *cluster) add(node string, answer http.HandlerFunc) {
	host := node + ".example:8443"
	c.gauges = append(c.gauges, collect.Gauge{ID: "uid-of-" + node, Node: node, Address: host})
	c.answer[host] = answer
}

// round makes a round, some time after the last one.
func (c *cluster) round(t testing.TB, after time.Duration) *collect.Round {
	t.Helper()
	c.clock.Step(after)
	round, err := c.collector.Round(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return round
}

// numbers returns the numbers of the intervals that arrived of a node, which gauges of [history] give.
func (c *cluster) numbers(node string) []int {
	var all []int
	for _, o := range c.received.by[node] {
		for i := range o.Intervals {
			all = append(all, o.Intervals[i].LeftOut)
		}
	}
	return all
}

const period = 10 * time.Second

// history is a gauge that has an interval every ten seconds, numbered from when it began. The clock of its node is wrong by
// some time.
func (c *cluster) history(node string, began time.Time, wrong time.Duration) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		last, _ := strconv.Atoi(r.URL.Query().Get("last"))
		since := c.clock.Since(began)
		all := int(since / period)
		report := usage.Report{AgeSeconds: (since - time.Duration(all)*period).Seconds()}
		for n := max(1, all-last+1); n <= all; n++ {
			end := began.Add(time.Duration(n)*period + wrong)
			report.Intervals = append(report.Intervals, interval(node, n, end))
		}
		_ = json.NewEncoder(w).Encode(report)
	}
}

// interval is the n-th interval of a node.
func interval(node string, n int, end time.Time) usage.Interval {
	return usage.Interval{Node: node, Start: end.Add(-period), End: end, Seconds: period.Seconds(), CPUs: 2, LeftOut: n, Pods: []usage.Pod{pod(0)}}
}

func pod(k int) usage.Pod {
	times := usage.Times{Run: 4, Wait: 2}
	uid := fmt.Sprintf("%08d-0000-4000-8000-000000000000", k)
	return usage.Pod{
		UID: uid, Namespace: "shop", Name: "cart-" + uid, Seconds: period.Seconds(), Times: times,
		Tasks: 3, Threads: 1.2, Dilation: 1.25, CPULoading: 0.5, Containers: []usage.Container{{ID: uid, Times: times}},
	}
}

// says answers a report, whatever it is asked for.
func says(report usage.Report) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _ = json.NewEncoder(w).Encode(report) }
}
