package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"loadline.dev/loadline/hack/chaos/invariant"
	"loadline.dev/loadline/hack/chaos/link"
	"loadline.dev/loadline/hack/comparison"
	"loadline.dev/loadline/pkg/gauge/usage"
	"loadline.dev/loadline/pkg/prometheus"
)

// some are targets.
var some = &targets{processes: []string{"manager-0", "etcd"}, links: []string{"a to b"}, apiLinks: []string{"manager-0 to api", "manager-1 to api"}, nodes: []string{"first", "second"}}

func TestASeedDrawsTheSameFaultsEachTime(t *testing.T) {
	t.Parallel()
	const within = 30 * time.Second
	if diff := cmp.Diff(draw(7, some, within), draw(7, some, within)); diff != "" {
		t.Error(diff)
	}
	if cmp.Equal(draw(7, some, within), draw(8, some, within)) {
		t.Error("two seeds draw the same")
	}
}

func TestSeedsDrawFaultsOfAllKindsWithinTheTime(t *testing.T) {
	t.Parallel()
	const within = 30 * time.Second
	seen := map[kind]bool{}
	for seed := range uint64(200) {
		faults, used := draw(seed, some, within), map[string]bool{}
		if len(faults) < 4 || !slices.IsSortedFunc(faults, func(a, b fault) int { return int(a.At - b.At) }) {
			t.Fatalf("seed %d draws %v", seed, faults)
		}
		for _, f := range faults {
			seen[f.Kind] = true
			busy := occupies(f.Kind) + f.Target
			if f.At < 0 || f.For < time.Second || f.At+f.For > within || used[busy] {
				t.Errorf("seed %d: %v", seed, f)
			}
			used[busy] = true
		}
	}
	if len(seen) != 19 {
		t.Errorf("%d kinds are drawn: %v", len(seen), seen)
	}
}

func TestAFaultIsDescribed(t *testing.T) {
	t.Parallel()
	for want, f := range map[string]fault{
		"  1.0 s to   3.0 s: delay a to b by 20ms":   {Kind: delayed, Target: "a to b", At: time.Second, For: 2 * time.Second, Delay: 20 * time.Millisecond},
		"  0.0 s to   2.0 s: lying gauges old":       {Kind: gaugesLie, Variant: lieOld, For: 2 * time.Second},
		"  0.0 s to   2.0 s: 500 m-0 to api of 50 %": {Kind: failing, Target: "m-0 to api", For: 2 * time.Second, Share: 0.5},
	} {
		if got := f.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestOptionsOutOfRangeAreRefused(t *testing.T) {
	t.Parallel()
	good := options{seeds: 1, faults: 10 * time.Second, settle: time.Minute}
	for want, spoil := range map[string]func(*options){
		"--seeds: 0 is not at least 1":    func(o *options) { o.seeds = 0 },
		"--faults: 1s is not at least 4s": func(o *options) { o.faults = time.Second },
		"--settle: 0s is not at least 1s": func(o *options) { o.settle = 0 },
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

func TestRatesAreThoseThatWereSetUnlessTheyLie(t *testing.T) {
	t.Parallel()
	r := &rates{}
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	r.set("q", "60")
	ask := func() string {
		s, err := prometheus.Query(t.Context(), http.DefaultClient, server.URL, "q")
		if err != nil {
			return "an error"
		}
		return fmt.Sprint(s.Value)
	}
	for lie, want := range map[string]string{"": "60", rateNegative: "-60", rateHuge: "1e+300", rateNaN: "NaN", rateNone: "an error", rateError: "an error"} {
		r.spoil(lie)
		if got := ask(); got != want {
			t.Errorf("%q: %s, want %s", lie, got, want)
		}
	}
	if all, err := r.numbers(); err != nil || all["q"] != 60 {
		t.Errorf("%v %v", all, err)
	}
}

// runs returns a pod that runs.
func runs(name, app, node string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID("uid-" + name), Labels: map[string]string{"app": app}},
		Spec:       corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Name: "main"}}},
		Status:     corev1.PodStatus{Phase: corev1.PodRunning},
	}
}

func TestAGaugeReportsThePodsOfItsNodeUnlessItLies(t *testing.T) {
	t.Parallel()
	g := &gauges{
		nodeOf: func(pod string) string { return map[string]string{"loadline-gauge/g": "one"}[pod] },
		podsOn: func(node string) []*corev1.Pod {
			return []*corev1.Pod{runs("b", "batch", node), runs("a", "web", node)}
		},
	}
	ask := func(pod string) (*usage.Report, int, error) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, usage.Path, http.NoBody)
		r.Header.Set("X-Forwarded-Uri", "/api/v1/namespaces/loadline-gauge/pods/https:"+pod+":8443/proxy/v1/usage")
		w := httptest.NewRecorder()
		g.ServeHTTP(w, r)
		report, err := usage.NewDecoder(w.Body, usage.Limits{Bytes: usage.MaxBytes, Intervals: usage.MaxIntervals, Objects: usage.MaxObjects, Known: true}).Report()
		return report, w.Code, err
	}
	report, _, err := ask("g")
	if err != nil {
		t.Fatal(err)
	}
	if v := report.Intervals[len(report.Intervals)-1]; v.Node != "one" || len(v.Pods) != 2 || v.Pods[0].Name != "a" || time.Since(v.End) > 2*gaugeInterval*time.Second {
		t.Errorf("the last interval is %+v", v)
	}
	if _, code, _ := ask("another"); code != http.StatusInternalServerError {
		t.Errorf("for a pod that is none it answers %d", code)
	}
	for lie, is := range map[string]func(*usage.Report, int, error) bool{
		lieNegative: func(_ *usage.Report, _ int, err error) bool { return err != nil },
		lieHuge:     func(r *usage.Report, _ int, err error) bool { return err != nil || r.AgeSeconds > 1e9 },
		lieOld: func(r *usage.Report, _ int, err error) bool {
			return err == nil && time.Since(r.Intervals[0].End) > 23*time.Hour
		},
		lieOtherNode: func(r *usage.Report, _ int, err error) bool {
			return err == nil && r.Intervals[0].Node == "another-node"
		},
		lieGarbage: func(_ *usage.Report, _ int, err error) bool { return err != nil },
		lieError:   func(_ *usage.Report, code int, _ error) bool { return code == http.StatusInternalServerError },
	} {
		g.set(lie)
		if !is(ask("g")) {
			t.Errorf("it does not lie: %s", lie)
		}
	}
}

func TestAProgramIsStartedAgainUntilItIsStopped(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "log")
	p, err := startProgram(t.Context(), "sh", log, "/bin/sh", "-c", "echo started; exec sleep 1000")
	if err != nil {
		t.Fatal(err)
	}
	started := func(n int) {
		t.Helper()
		err := wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, 10*time.Second, true, func(context.Context) (bool, error) {
			content, err := os.ReadFile(filepath.Clean(log))
			return strings.Count(string(content), "started") == n, err
		})
		if err != nil {
			t.Fatalf("it was not started %d times: %v", n, err)
		}
	}
	started(1)
	for _, do := range []func() error{p.pause, p.resume, p.kill} {
		if err := do(); err != nil {
			t.Error(err)
		}
	}
	if p.restarts() != 0 {
		t.Error("to be killed counts as to end by itself")
	}
	p.revive()
	started(2)
	if err := p.stop(); err != nil {
		t.Error(err)
	}
}

func TestAFollowerGoesOnAfterWhatItSawLast(t *testing.T) {
	t.Parallel()
	watches, watching := 0, make(chan struct{})
	c := fake.NewClientBuilder().WithObjects(runs("a", "web", "one")).WithInterceptorFuncs(interceptor.Funcs{
		Watch: func(ctx context.Context, inner client.WithWatch, list client.ObjectList, o ...client.ListOption) (watch.Interface, error) {
			if watches++; watches == 1 {
				return nil, apierrors.NewResourceExpired("too old")
			}
			w, err := inner.Watch(ctx, list, o...)
			go func() { <-ctx.Done(); w.Stop() }() // as that of a real client does
			close(watching)
			return w, err
		},
	}).Build()
	seen := make(chan invariant.Event, 10)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	synced, ended := make(chan struct{}), make(chan struct{})
	f := &follower{client: c, list: &corev1.PodList{}, see: func(e invariant.Event) { seen <- e }}
	go func() { defer close(ended); f.run(ctx, synced) }()
	<-synced
	expect := func(name string, deleted bool) {
		t.Helper()
		if e := <-seen; e.Object.GetName() != name || e.Deleted != deleted {
			t.Errorf("got %s, deleted %t, want %s, %t", e.Object.GetName(), e.Deleted, name, deleted)
		}
	}
	expect("a", false)
	expect("a", false) // listed anew
	<-watching
	must(t, c.Create(ctx, runs("b", "web", "one")))
	expect("b", false)
	must(t, c.Delete(ctx, runs("a", "web", "one")))
	expect("a", true)
	cancel()
	<-ended
}

func TestAHistoryFindsWhatIsBrokenAndWhatIsThere(t *testing.T) {
	t.Parallel()
	h := newHistory()
	h.event(invariant.Event{At: time.Now(), Object: runs("a", "web", "one")})
	h.event(invariant.Event{At: time.Now(), Object: runs("a", "web", "two")})
	h.request(link.Passed{Client: "manager-0", Method: http.MethodDelete, Path: "/api/v1/namespaces/shop/pods/a", Status: http.StatusOK})
	if got := h.take(); len(got) != 2 || got[0].rule != "no pod is placed twice" || !strings.Contains(got[1].String(), "manager-0 deleted") {
		t.Errorf("broken are %v", got)
	}
	if got := h.take(); len(got) > 0 {
		t.Errorf("broken are still %v", got)
	}
	if h.nodeOf("shop/a") != "two" || len(h.podsOn("two")) != 1 || len(h.podsOn("one")) != 0 {
		t.Error("it is not found on its node")
	}
	h.event(invariant.Event{Object: runs("a", "web", "two"), Deleted: true})
	if h.nodeOf("shop/a") != "" {
		t.Error("it is found though it is gone")
	}
	if done, _ := h.effects(); done["DELETE pods"] != 0 && len(done) != 1 {
		t.Errorf("the effects are %v", done)
	}
}

func TestADisturbanceLastsUntilItEnds(t *testing.T) {
	t.Parallel()
	h, before := newHistory(), time.Now().Add(-time.Minute)
	end := h.disturb("scheduler-0")
	if later := time.Now().Add(time.Hour); !h.disturbed("scheduler-0", later, later.Add(time.Second)) || h.disturbed("scheduler-1", later, later.Add(time.Second)) {
		t.Error("it does not last, or is of another client")
	}
	end()
	if later := time.Now().Add(time.Hour); h.disturbed("scheduler-0", later, later.Add(time.Second)) || h.disturbed("scheduler-0", before, before) {
		t.Error("it lasts for ever, or began before")
	}
	h.disturb("")
	if later := time.Now().Add(time.Hour); !h.disturbed("scheduler-1", later, later.Add(time.Second)) {
		t.Error("it is not of all")
	}
}

// A request whose answer does not come may have been carried out.
func TestAFaultThatMayHaveBegunIsHealed(t *testing.T) {
	t.Parallel()
	failing := true
	calls := interceptor.Funcs{Patch: func(ctx context.Context, api client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
		if err := api.Patch(ctx, object, patch, options...); err != nil || !failing {
			return err
		}
		return context.DeadlineExceeded
	}}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "one", Labels: map[string]string{"chaos": "node"}, Annotations: map[string]string{kwokAnnotation: "fake"}}}
	c := &cluster{WithWatch: fake.NewClientBuilder().WithObjects(node).WithInterceptorFuncs(calls).Build(), history: newHistory()}
	v, err := c.inject(t.Context(), fault{Kind: kubeletAway, Target: "first"}, nil)
	if v == nil || err == nil {
		t.Fatalf("the victim is %v, the error %v", v, err)
	}
	played := func() bool {
		var now corev1.Node
		must(t, c.Get(t.Context(), client.ObjectKeyFromObject(node), &now))
		return now.Annotations[kwokAnnotation] == "fake"
	}
	if played() {
		t.Fatal("it has not begun")
	}
	failing = false
	if must(t, v.heal(t.Context())); !played() {
		t.Error("the node is left without a kubelet")
	}
	if v, err := c.inject(t.Context(), fault{Kind: kubeletAway, Target: "second"}, nil); v != nil || err == nil {
		t.Errorf("of a node that is not there the victim is %v, the error %v", v, err)
	}
}

func TestASchedulerIsBlindWithoutAWatch(t *testing.T) {
	t.Parallel()
	h := newHistory()
	ends := map[string]func(){}
	for _, resource := range bindsBy() {
		ends[resource] = h.watching("scheduler-0", "/apis/loadline.dev/v1alpha1/"+resource)
	}
	began, later := time.Now(), time.Now().Add(time.Hour)
	blind := func(who string, from, to time.Time) bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		return h.blind(who, from, to)
	}
	if blind("scheduler-0", later, later.Add(time.Second)) || blind("", later, later.Add(time.Second)) {
		t.Error("it is blind though it watches")
	}
	if !blind("scheduler-0", began.Add(-time.Minute), began) || !blind("scheduler-1", later, later.Add(time.Second)) {
		t.Error("one is not that has not watched yet")
	}
	ends["nodeprofiles"]()
	if !blind("scheduler-0", later, later.Add(time.Second)) || !blind("", later, later.Add(time.Second)) {
		t.Error("it is not blind though a watch has ended")
	}
	h.watching("scheduler-0", "/apis/loadline.dev/v1alpha1/nodeprofiles")
	if blind("scheduler-0", later, later.Add(time.Second)) {
		t.Error("it is blind though it watches again")
	}
}

func TestKubeletsFollowResizesAndEndPodsThatAreDeleted(t *testing.T) {
	t.Parallel()
	pod := runs("a", "web", "one")
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", Resources: &corev1.ResourceRequirements{}}}
	if lagging(pod) || cutShort(pod) {
		t.Error("a pod that is left alone lags behind or is cut short")
	}
	pod.Spec.Containers[0].Resources.Limits = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}
	if !lagging(pod) || lagging(followed(pod)) {
		t.Error("a pod that was resized does not lag behind, or it does once it has followed")
	}
	pod.DeletionTimestamp, pod.Finalizers = new(metav1.Now()), []string{"batch.kubernetes.io/job-tracking"}
	if !cutShort(pod) {
		t.Error("a pod of a Job that is deleted is not cut short")
	}
}

func TestATallyCountsFaultsAndFailures(t *testing.T) {
	t.Parallel()
	c := &tally{kinds: map[kind]int{}}
	c.add(&outcome{seed: 1, faults: []fault{{Kind: killed}, {Kind: killed}, {Kind: held}}, skipped: 1})
	c.add(&outcome{seed: 2, broken: []broken{{rule: "r"}}})
	text, err := json.Marshal([]any{c.seeds, c.faults, c.skipped, c.broken, c.kinds, c.failed})
	if err != nil || string(text) != `[2,3,1,1,{"hold":1,"kill":2},[2]]` {
		t.Errorf("%s %v", text, err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestAClusterThatDoesNotStartIsAnError(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := startCluster(ctx, t.TempDir(), "", comparison.NewProgress(os.Stderr)); err == nil {
		t.Error("it has started")
	}
}
