package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"

	"loadline.dev/loadline/hack/local"
	"loadline.dev/loadline/hack/madeup"
	"loadline.dev/loadline/pkg/gauge/server"
	"loadline.dev/loadline/pkg/gauge/usage"
)

// The ways in which gauges lie.
const (
	lieNegative  = "negative"   // numbers
	lieHuge      = "huge"       // numbers
	lieOld       = "old"        // intervals, of a day before
	lieOtherNode = "other node" // what they report is of another node
	lieGarbage   = "garbage"    // in place of JSON
	lieSilent    = "silent"     // no answer
	lieError     = "error"      // 500
)

// gauges answer for the gauges of all nodes, at one port: the API server says for which pod it asks.
type gauges struct {
	port   int32
	server *http.Server
	nodeOf func(pod string) string
	podsOn func(node string) []*corev1.Pod

	mu  sync.Mutex
	lie string
}

// gaugesNamespace is where the gauges are.
const gaugesNamespace = "loadline-gauge"

func newGauges(ctx context.Context, nodeOf func(string) string, podsOn func(string) []*corev1.Pod) (*gauges, error) {
	address, err := local.OuterAddress()
	if err != nil {
		return nil, err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort(address, "0"))
	if err != nil {
		return nil, err
	}
	at, err := netip.ParseAddrPort(listener.Addr().String())
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	g := &gauges{port: int32(at.Port()), nodeOf: nodeOf, podsOn: podsOn}
	g.server = &http.Server{
		Handler: g, ReadHeaderTimeout: time.Minute,
		TLSConfig: &tls.Config{GetCertificate: server.SelfSigned("gauge", clock.RealClock{}), MinVersion: tls.VersionTLS12},
	}
	go func() { _ = g.server.ServeTLS(listener, "", "") }() // until it is closed
	return g, nil
}

// set says how the gauges lie, "" for not at all.
func (g *gauges) set(lie string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.lie = lie
}

// ServeHTTP answers for a gauge.
func (g *gauges) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	lie := g.lie
	g.mu.Unlock()
	node := g.nodeOf(gaugesNamespace + "/" + askedPod(r.Header.Get("X-Forwarded-Uri")))
	switch {
	case lie == lieError || node == "":
		http.Error(w, "out of order", http.StatusInternalServerError)
		return
	case lie == lieSilent:
		<-r.Context().Done()
		return
	case lie == lieGarbage:
		fmt.Fprint(w, `{"intervals": [{"node": 7, `)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(spoiled(played.Report(node, g.podsOn(node), gaugeIntervals, time.Now()), lie)) // the client may be gone
}

// askedPod returns the name of the pod in a path that the API server forwards, such as
// /api/v1/namespaces/loadline-gauge/pods/https:loadline-gauge-x2k8p:8443/proxy/v1/usage.
func askedPod(path string) string {
	_, after, _ := strings.Cut(path, "/pods/")
	name, _, _ := strings.Cut(after, "/")
	if parts := strings.Split(name, ":"); len(parts) == 3 {
		return parts[1]
	}
	return name
}

const (
	gaugeInterval  = 10 // seconds
	gaugeIntervals = 8
	nodeCPUs       = 4
)

// computing is which fraction of its time a pod of an app computes where it has a processor for itself.
var computing = map[string]float64{"web": 0.3, "batch": 0.9, "limited": 0.5, "task": 0.2}

// played plays what is observed.
var played = madeup.Gauge{
	CPUs: nodeCPUs, Interval: gaugeInterval * time.Second, Loading: func(p *corev1.Pod) float64 { return computing[p.Labels["app"]] },
}

// spoiled returns a report that lies.
func spoiled(r *usage.Report, lie string) *usage.Report {
	if lie == lieHuge {
		r.AgeSeconds = 1e15
	}
	for i := range r.Intervals {
		v := &r.Intervals[i]
		switch lie {
		case lieNegative:
			v.BusySeconds = -v.BusySeconds
			for k := range v.Pods {
				v.Pods[k].Run, v.Pods[k].Dilation = -1, -v.Pods[k].Dilation
			}
		case lieHuge:
			v.BusySeconds = 1e300
			for k := range v.Pods {
				v.Pods[k].Run, v.Pods[k].Wait, v.Pods[k].Dilation = 1e18, 1e18, 1e12
			}
		case lieOld:
			v.Start, v.End = v.Start.Add(-24*time.Hour), v.End.Add(-24*time.Hour)
		case lieOtherNode:
			v.Node = "another-node"
		}
	}
	return r
}
