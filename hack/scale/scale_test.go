package main

import (
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"loadline.dev/loadline/hack/madeup"
	"loadline.dev/loadline/pkg/evaluate/installation"
	"loadline.dev/loadline/pkg/gauge/usage"
)

func made(t *testing.T) *cluster {
	t.Helper()
	in, err := madeup.Cluster(2, 3, time.Now().Add(-time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	return &cluster{in: in, gauges: &gauges{ports: []int32{1024, 1025}}}
}

// The gauge of a node answers what was made up as if it were now, with the UIDs that the API server gave the pods.
func TestAGaugeAnswersAsOfNow(t *testing.T) {
	t.Parallel()
	c := made(t)
	for i := range c.in.Pods {
		c.identify(i, types.UID(fmt.Sprintf("given-%d", i)))
	}
	w := httptest.NewRecorder()
	usageHandler(&c.in.Sights[1]).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, usage.Path, http.NoBody))
	r, err := usage.NewDecoder(w.Body, usage.Limits{Bytes: usage.MaxBytes, Intervals: usage.MaxIntervals, Objects: usage.MaxObjects, Known: true}).Report()
	if err != nil {
		t.Fatal(err)
	}
	last := r.Intervals[len(r.Intervals)-1]
	if age := time.Since(last.End).Seconds(); age < 0 || age > 2*last.Seconds || r.AgeSeconds < 0 || r.AgeSeconds > last.Seconds {
		t.Errorf("the last interval ended %v s ago, %v by the answer", age, r.AgeSeconds)
	}
	for _, v := range r.Intervals {
		for k, p := range v.Pods {
			if want := fmt.Sprintf("given-%d", 3+k); p.UID != want {
				t.Errorf("pod %d is %s, want %s", k, p.UID, want)
			}
		}
	}
}

func TestThePodsOfGaugesAreTakenForGauges(t *testing.T) {
	t.Parallel()
	pod := made(t).gauge(1)
	if !installation.IsGauge(pod) || installation.UsagePort(pod) != "1025" {
		t.Errorf("a gauge %t, at port %s", installation.IsGauge(pod), installation.UsagePort(pod))
	}
	if _, err := installation.GaugeReader(pod); err != nil {
		t.Error(err)
	}
}

func TestOptionsOutOfRangeAreRefused(t *testing.T) {
	t.Parallel()
	good := options{nodes: 1, pods: 1, profiles: 1, placed: 1, looks: 1, period: time.Second, parts: allParts()}
	for want, spoil := range map[string]func(*options){
		"--nodes: 0 is not from 1 to 16384":                                          func(o *options) { o.nodes = 0 },
		"--nodes: 16385 is not from 1 to 16384":                                      func(o *options) { o.nodes = 16385 },
		"--pods: -1 is not from 1 to 16384":                                          func(o *options) { o.pods = -1 },
		"--profiles: 0 is not from 1 to 16384":                                       func(o *options) { o.profiles = 0 },
		"--placed: 20000 is not from 1 to 16384":                                     func(o *options) { o.placed = 20000 },
		"--looks: 0 is not from 1 to 16384":                                          func(o *options) { o.looks = 0 },
		"--period: 1ms is less than a second":                                        func(o *options) { o.period = time.Millisecond },
		`--parts: "all" is none of manager, scheduler, who, plan, remediation, page`: func(o *options) { o.parts = []string{partPage, "all"} },
		`--manager-memory: "much" is no amount of memory above 0, such as 1Gi`:       func(o *options) { o.memory = "much" },
		`--manager-memory: "-1Gi" is no amount of memory above 0, such as 1Gi`:       func(o *options) { o.memory = "-1Gi" },
	} {
		o := good
		spoil(&o)
		if err := o.validate(); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if err := good.validate(); err != nil {
		t.Error(err)
	}
}

func TestProgramsHaveTheLimitOfMemoryThatTheyAreShippedWith(t *testing.T) {
	t.Parallel()
	if limit, err := memoryLimitOf("1Gi"); err != nil || limit != "966367638" {
		t.Errorf("of 1Gi: %s, %v", limit, err)
	}
	for program, of := range map[string]float64{manager: 512 << 20, scheduler: 1 << 30} {
		limit, err := shippedMemoryLimit("../..", program)
		if want := fmt.Sprintf("%.0f", math.Floor(0.9*of)); err != nil || limit != want {
			t.Errorf("%s: %s, %v; want %s", program, limit, err, want)
		}
	}
	if limit, err := shippedMemoryLimit("../..", "loadline-gauge"); err == nil {
		t.Errorf("a program without a Deployment has a limit of %s", limit)
	}
}
