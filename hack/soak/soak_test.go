package main

import (
	"bytes"
	"encoding/json"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"

	"loadline.dev/loadline/hack/soak/trend"
	"loadline.dev/loadline/pkg/gauge/usage"
)

func TestOptionsOutOfRangeAreRefused(t *testing.T) { //nolint:paralleltest // it sets KUBECONFIG
	t.Setenv("KUBECONFIG", "somewhere")
	good := options{length: 2 * time.Hour, cycle: 4 * time.Minute, every: 5 * time.Second, nodes: 20}
	for want, spoil := range map[string]func(*options){
		"--cycle: 19s is not at least 20s":                     func(o *options) { o.cycle = 19 * time.Second },
		"--every: 500ms is not from 1s to a fourth of --cycle": func(o *options) { o.every = time.Second / 2 },
		"--every: 1m1s is not from 1s to a fourth of --cycle":  func(o *options) { o.every = 61 * time.Second },
		"--nodes: 0 is not from 1 to 200":                      func(o *options) { o.nodes = 0 },
		"--for: after a warm-up of 8m0s there are 5 cycles":    func(o *options) { o.length = 30 * time.Minute },
		"--for: after a warm-up of 1h40m0s there are 5 cycles": func(o *options) { o.warmUp = 100 * time.Minute },
	} {
		o := good
		spoil(&o)
		if err := o.complete(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if err := good.complete(); err != nil || good.warmUp != 24*time.Minute || !filepath.IsAbs(good.dir) {
		t.Errorf("%+v, %v, want a fifth of two hours for the warm-up", good, err)
	}
	t.Setenv("KUBECONFIG", "")
	if err := good.complete(); err == nil {
		t.Error("no cluster is enough")
	}
}

func TestManifestsOfTheLoadAreNumbered(t *testing.T) {
	t.Parallel()
	entries, err := manifests.ReadDir("load")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		file := strings.TrimSuffix(entry.Name(), ".yaml")
		objects, err := manifest(file, 42)
		if err != nil || len(objects) == 0 {
			t.Errorf("%s has %d objects: %v", file, len(objects), err)
		}
		for _, o := range objects {
			if o.GetName() == "" || o.GetAPIVersion() == "" || file != "base" && file != "gauges" && !strings.Contains(o.GetName()+o.GetNamespace(), "-42") {
				t.Errorf("%s has %s %s/%s", file, o.GetKind(), o.GetNamespace(), o.GetName())
			}
		}
	}
}

// What a cycle creates, it or a later one deletes, and before it is created again.
func TestWhatACycleCreatesIsDeleted(t *testing.T) {
	t.Parallel()
	begun := map[string]string{
		"namespace created": "namespace deleted", "node created": "node deleted", "profile created": "profile deleted",
		"TraceReplay created": "TraceReplay deleted", "measurement begun": "measured profile deleted",
	}
	there := map[string]bool{}
	for number := range 6 * turns {
		for _, do := range due(number/turns, number%turns) {
			if begun[do.what] != "" {
				if there[do.what] {
					t.Errorf("cycle %d: %s twice", number/turns, do.what)
				}
				there[do.what] = true
			}
			for what, end := range begun {
				if do.what == end {
					delete(there, what)
				}
			}
		}
	}
	if len(there) > 0 {
		t.Errorf("after six cycles there is %v", there)
	}
}

func TestReplicasRiseAndFallAroundTheirMean(t *testing.T) {
	t.Parallel()
	sum, most, least := 0, 0, math.MaxInt
	for part := range turns {
		n := replicas(40, part)
		sum, most, least = sum+n, max(most, n), min(least, n)
	}
	if sum != 40*turns || most != 64 || least != 16 {
		t.Errorf("from %d to %d, %d in all", least, most, sum)
	}
}

func TestAPodIsCalledAlikeUntilItIsAnother(t *testing.T) {
	t.Parallel()
	s := &sampler{numbers: map[string]int{}, names: map[string]string{}}
	pod := func(part, uid, node string) *corev1.Pod {
		return &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: "pod-" + uid, UID: types.UID(uid), Labels: map[string]string{"app.kubernetes.io/name": "loadline-" + part}},
			Spec:       corev1.PodSpec{NodeName: node},
		}
	}
	var got []string
	for _, of := range []struct {
		pod      *corev1.Pod
		restarts int32
	}{
		{pod("manager", "a", "system"), 0},
		{pod("manager", "b", "system"), 0},
		{pod("scheduler", "c", "system"), 0},
		{pod("manager", "a", "system"), 1},
		{pod("gauge", "d", "worker-1"), 0},
		{pod("gauge", "e", "worker-1"), 0},
		{pod("manager", "b", "system"), 0},
	} {
		got = append(got, s.instance(of.pod, of.restarts))
	}
	want := []string{"1", "2", "1", "1 after restart 1", "worker-1", "worker-1 (pod-e)", "2"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestEverySeriesHasAUnit(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		what    string
		counter bool
		want    string
	}{
		{"heap", false, "MiB"},
		{"heap objects", false, "objects"},
		{gauged["go_gc_heap_live_bytes"], false, "MiB"},
		{"resident memory", false, "MiB"},
		{"processor time", true, "s/min"},
		{"requests: get pods", true, "/min"},
		{"work queues", false, ""},
		{"objects: Pods", false, ""},
	} {
		if got := unitOf(test.what, test.counter).name; got != test.want {
			t.Errorf("%s is in %q, want %q", test.what, got, test.want)
		}
	}
	if heap, objects := boundOf("manager", "heap"), boundOf("manager", "heap objects"); heap == nil || objects == nil || heap == objects || boundOf("gauge", "heap") != nil {
		t.Error("the heap of the manager alone has a bound, and its objects another")
	}
}

// Nodes that are there at once have addresses of their own, as up to 50 cycles later have those that come and go.
func TestPlayedNodesHaveAddressesOfTheirOwn(t *testing.T) {
	t.Parallel()
	taken := map[string]int{}
	for n := range maxNodes {
		taken[addressOf(n)]++
	}
	for cycle := range extras {
		taken[addressOf(extra(cycle))]++
	}
	for address, n := range taken {
		if n != 1 || net.ParseIP(address) == nil {
			t.Errorf("%s is that of %d nodes", address, n)
		}
	}
}

func TestAPlayedGaugeReportsTheNodeAtItsAddress(t *testing.T) {
	t.Parallel()
	running := func(name, app, node, address string) *corev1.Pod {
		return &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID(name), Labels: map[string]string{"app": app}},
			Spec:       corev1.PodSpec{NodeName: node, HostNetwork: app == ""}, Status: corev1.PodStatus{Phase: corev1.PodRunning, PodIP: address},
		}
	}
	api := fake.NewClientset(running("gauge", "", "soak-0", addressOf(0)), running("web", "web", "soak-0", "10.0.0.1"), running("other", "web", "soak-1", "10.0.0.2"))
	p, err := follow(t.Context(), api)
	if err != nil {
		t.Fatal(err)
	}
	defer p.stop()
	for query, want := range map[string]int{"": 1, "?last=3": 3, "?last=1000": 60, "?last=0": -1} {
		w := httptest.NewRecorder()
		p.answer(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, usage.Path+query, http.NoBody), addressOf(0))
		if want < 0 {
			if w.Code != http.StatusBadRequest {
				t.Errorf("%q is answered with %d", query, w.Code)
			}
			continue
		}
		r, err := usage.NewDecoder(w.Body, usage.Limits{Bytes: usage.MaxBytes, Intervals: usage.MaxIntervals, Objects: usage.MaxObjects, Known: true}).Report()
		if err != nil {
			t.Fatal(err)
		}
		if v := r.Intervals[0]; len(r.Intervals) != want || v.Node != "soak-0" || len(v.Pods) != 1 || v.Pods[0].Name != "web" {
			t.Errorf("%q: %+v", query, r)
		}
	}
	w := httptest.NewRecorder()
	p.answer(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, usage.Path, http.NoBody), addressOf(1))
	if w.Code != http.StatusServiceUnavailable {
		t.Errorf("where there is no node the answer is %d", w.Code)
	}
}

// made is a run of 40 minutes with a sample every ten seconds: the scheduler leaks, and is seen to write more and more, which begins late.
func made() (*record, []sample) {
	r := &record{
		Length: metav1.Duration{Duration: 40 * time.Minute}, Cycle: metav1.Duration{Duration: time.Minute}, WarmUp: metav1.Duration{Duration: 5 * time.Minute},
		Done: map[string]int{"scaled": 800}, Failed: map[string]int{"page loaded: it | was\nnot there": 1},
	}
	var samples []sample
	for i := range 240 {
		s := sample{Seconds: float64(10 * i), Values: map[string]float64{
			name("scheduler", "1", "heap"): 30*mebi + float64(i)*mebi/60, name("manager", "1", "heap"): 30*mebi + float64(i)*mebi/60, name("manager", "1", "goroutines"): 100 + float64(i%6),
		}, Counters: map[string]float64{name("manager", "", "all requests"): float64(5 * i)}}
		if i >= 60 {
			s.Counters[name("scheduler", "", "changes nothing: patch pods/status")] = float64((i-60)*(i-60)) / 100
		}
		if i < 20 {
			s.Values[name("gauge", "worker-1", "resident memory")] = 20 * mebi
		}
		samples = append(samples, s)
	}
	return r, samples
}

func TestARunIsJudgedAndShown(t *testing.T) {
	t.Parallel()
	r, samples := made()
	all := judge(r, samples)
	got := map[string]trend.Kind{}
	for i := range all {
		got[name(all[i].part, all[i].instance, all[i].what)] = all[i].Kind
	}
	want := map[string]trend.Kind{
		"scheduler|1|heap": trend.Grows, "manager|1|heap": trend.Bounded, "manager|1|goroutines": trend.Steady, "manager||all requests": trend.Steady,
		"scheduler||changes nothing: patch pods/status": trend.Grows, "gauge|worker-1|resident memory": trend.Short,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if err := growth(all); err == nil || !strings.Contains(err.Error(), "2 of 6 series grow: scheduler: changes nothing: patch pods/status; scheduler 1: heap") {
		t.Errorf("what grows is an error: %v", err)
	}
	if err := growth(all[:1]); err != nil {
		t.Error(err)
	}
	var text strings.Builder
	if err := writePage(&text, r, samples, all); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| scheduler 1: heap | 32.", "manager, heap: up to 100.0 MiB", "| scheduler: patch pods/status | 320 |", "No requests that failed.", "| scaled | 800 |",
		"| page loaded: it / was not there | 1 |", "gauge worker-1 was there from 0s to 3m10s",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the page does not have %q:\n%s", want, &text)
		}
	}
}

func TestARunIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r, samples := made()
	if err := r.write(dir); err != nil {
		t.Fatal(err)
	}
	var lines bytes.Buffer
	for i := range samples {
		if err := json.NewEncoder(&lines).Encode(&samples[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, samplesFile), lines.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	readRecord, readSamples, err := read(dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r, readRecord); diff != "" {
		t.Errorf("the record (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(samples, readSamples); diff != "" {
		t.Errorf("the samples (-want +got):\n%s", diff)
	}
}

func TestKindsOfObjectsHavePlurals(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]string{"Pod": "Pods", "RemediationPolicy": "RemediationPolicies"} {
		if got := plural(kind); got != want {
			t.Errorf("%s of %s, want %s", got, kind, want)
		}
	}
}
