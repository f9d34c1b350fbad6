package observation

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/events"
	testingclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/installation"
	"loadline.dev/loadline/pkg/evaluate/observations"
	"loadline.dev/loadline/pkg/gauge/collect"
	"loadline.dev/loadline/pkg/gauge/collected"
	"loadline.dev/loadline/pkg/gauge/usage"
)

// site is a cluster of one node with a gauge, and the controller.
type site struct {
	*Controller

	clock     *testingclock.FakeClock
	collector *collect.Collector
	events    chan string
	// loading is the loading of the pods that the gauge observes, in thousandths, and burst their burst in microseconds.
	loading, burst atomic.Int64
	// blocked is for how long disks serve each of these pods, in thousandths of its time, and below 0 where the gauge knows nothing of disks.
	blocked atomic.Int64
	asked   atomic.Int64 // how often the gauge was asked
	writes  int
}

const (
	theToken = "for-gauges"
	nodeName = "worker-1"
)

// nodeField is the field that selects pods by the name of their node.
const nodeField = "spec.nodeName"

// podsOf are the pods that a client reads, by an index of nodeField.
type podsOf struct{ client.Reader }

func (p podsOf) RunningOnNode(ctx context.Context, name string, _ []corev1.Pod) ([]corev1.Pod, error) {
	var pods corev1.PodList
	err := p.List(ctx, &pods, client.MatchingFields{nodeField: name})
	return pods.Items, err
}

func (p podsOf) RunningInNamespace(ctx context.Context, name string) ([]corev1.Pod, error) {
	var pods corev1.PodList
	err := p.List(ctx, &pods, client.InNamespace(name))
	return pods.Items, err
}

func nodeOf(o client.Object) []string {
	if pod, is := o.(*corev1.Pod); is && pod.Spec.NodeName != "" {
		return []string{pod.Spec.NodeName}
	}
	return nil
}

// newSite returns a site with two pods of cart, one of another app, and a profile of cart that declares a loading.
func newSite(t *testing.T, objects ...client.Object) *site {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	s := &site{clock: testingclock.NewFakeClock(time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC))}
	server := httptest.NewTLSServer(http.HandlerFunc(s.serve))
	t.Cleanup(server.Close)
	host, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	objects = append(objects, node(), pod("cart-1", "cart"), pod("cart-2", "cart"), pod("sort", "sort"), gauge(t, host, port))
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithStatusSubresource(&v1alpha1.WorkloadProfile{}).
		WithIndex(&corev1.Pod{}, nodeField, nodeOf).WithInterceptorFuncs(interceptor.Funcs{Create: s.create}).Build()
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte(theToken+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	shown := NewMetrics(prometheus.NewRegistry())
	recorder := events.NewFakeRecorder(100)
	s.events = recorder.Events
	s.Controller = &Controller{Client: c, Recorder: recorder, Clock: s.clock, TokenFile: token, Metrics: shown, Sites: &Sites{Gauges: c, Nodes: c, Pods: podsOf{c}}}
	if err := s.prepare(logr.Discard()); err != nil {
		t.Fatal(err)
	}
	for _, o := range objects {
		switch o.(type) {
		case *v1alpha1.WorkloadProfile, *v1alpha1.NodeProfile:
			s.index.OnAdd(o, true)
		}
	}
	s.collector = s.Controller.collector()
	s.loading.Store(580)
	s.burst.Store(2500)
	s.blocked.Store(-1)
	return s
}

// create creates an object, now, as an API server does.
func (s *site) create(ctx context.Context, c client.WithWatch, o client.Object, options ...client.CreateOption) error {
	o.SetCreationTimestamp(metav1.NewTime(s.clock.Now()))
	return c.Create(ctx, o, options...)
}

// serve answers as the gauge of the node: that each pod was seen in every interval of ten seconds, and was never waiting.
func (s *site) serve(w http.ResponseWriter, r *http.Request) {
	s.asked.Add(1)
	last, err := strconv.Atoi(r.URL.Query().Get("last"))
	if err != nil || r.Header.Get("Authorization") != "Bearer "+theToken {
		http.Error(w, "unauthorized", http.StatusUnauthorized)
		return
	}
	loading := float64(s.loading.Load()) / 1000
	report := usage.Report{}
	for range last {
		v := usage.Interval{Node: nodeName, Seconds: 10, CPUs: 8}
		for k, name := range []string{"cart-1", "cart-2", "sort"} {
			mine := loading + 0.01*float64(k)
			v.BusySeconds += 10 * mine
			v.Pods = append(v.Pods, usage.Pod{
				UID: "uid-of-" + name, Seconds: 10, Times: usage.Times{Run: 10 * mine}, Tasks: 1, Threads: 1, Dilation: 1, CPULoading: mine,
				BurstSeconds: float64(s.burst.Load()) / 1e6,
			})
		}
		if blocked := s.blocked.Load(); blocked >= 0 {
			atDisk(&v, blocked)
		}
		report.Intervals = append(report.Intervals, v)
	}
	_ = json.NewEncoder(w).Encode(report)
}

// atDisk gives each pod of an interval of ten seconds reads of a millisecond at a disk, which take the given thousandths of its time.
func atDisk(v *usage.Interval, thousandths int64) {
	operations, part := 10*thousandths, float64(thousandths)/1000
	reads := usage.Transfers{}
	for i := range v.Pods {
		p := &v.Pods[i]
		p.Blocked, p.DiskLoading = 10*part, part
		p.Disks = []usage.PodDisk{{Name: "vda", ReadOperations: operations, ReadBytes: 4096 * operations}}
		reads.Operations += operations
		reads.Bytes += 4096 * operations
		reads.Seconds += 10 * part
	}
	v.Disks = []usage.Disk{{
		Name: "vda", Number: "254:0", Reads: reads, BusySeconds: min(10, reads.Seconds), QueuedSeconds: reads.Seconds,
		Service: []usage.DiskService{{Direction: usage.Read, Bytes: 4096, Seconds: 1e-3, Spread: 1e-5, Intervals: 9}},
	}}
}

func node() *corev1.Node {
	amounts := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("8"), corev1.ResourcePods: resource.MustParse("110")}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: nodeName, Labels: map[string]string{"class": "fast"}},
		Status:     corev1.NodeStatus{Allocatable: amounts, Capacity: amounts},
	}
}

func pod(name, app string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID("uid-of-" + name), Labels: map[string]string{"app": app}},
		Spec:       corev1.PodSpec{NodeName: nodeName, Containers: []corev1.Container{{Name: "main"}}},
		Status:     corev1.PodStatus{Phase: corev1.PodRunning},
	}
}

func gauge(t *testing.T, host, port string) *corev1.Pod {
	t.Helper()
	number, err := strconv.ParseInt(port, 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: installation.GaugeNamespace, Name: "gauge", UID: "uid-of-gauge", Labels: installation.GaugeLabels()},
		Spec:       corev1.PodSpec{NodeName: nodeName, Containers: []corev1.Container{{Name: "gauge", Ports: []corev1.ContainerPort{{Name: "https", ContainerPort: int32(number)}}}}},
		Status:     corev1.PodStatus{Phase: corev1.PodRunning, PodIP: host},
	}
}

// declared is the profile of cart.
func declared(loading string) *v1alpha1.WorkloadProfile {
	return &v1alpha1.WorkloadProfile{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "cart", Generation: 1},
		Spec: v1alpha1.WorkloadProfileSpec{
			Selector:  &metav1.LabelSelector{MatchLabels: map[string]string{"app": "cart"}},
			Resources: []v1alpha1.ResourceDemand{{Name: "cpu", Loading: new(resource.MustParse(loading))}},
		},
	}
}

func fast() *v1alpha1.NodeProfile {
	return &v1alpha1.NodeProfile{
		ObjectMeta: metav1.ObjectMeta{Name: "fast", Generation: 1},
		Spec: v1alpha1.NodeProfileSpec{
			Selector:  &metav1.LabelSelector{MatchLabels: map[string]string{"class": "fast"}},
			Resources: []v1alpha1.ResourceServers{{Name: "disk", Servers: new(int32(2))}},
		},
	}
}

// round collects once, and writes what is to be written then.
func (s *site) round(t *testing.T) {
	t.Helper()
	s.clock.Step(collect.Period)
	round, err := s.collector.Round(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.done(t.Context(), round)
	select {
	case <-s.observed:
		if err := s.update(t.Context()); err != nil {
			t.Log(err)
		}
	default:
	}
}

// rounds collects for some minutes.
func (s *site) rounds(t *testing.T, minutes int) {
	t.Helper()
	for range 2 * minutes {
		before := s.profile(t).ResourceVersion
		s.round(t)
		if s.profile(t).ResourceVersion != before {
			s.writes++
		}
	}
}

func (s *site) profile(t *testing.T) *v1alpha1.WorkloadProfile {
	t.Helper()
	p := &v1alpha1.WorkloadProfile{}
	if err := s.Client.Get(t.Context(), client.ObjectKey{Namespace: "shop", Name: "cart"}, p); err != nil {
		t.Fatal(err)
	}
	return p
}

// drift returns the condition Drifted in words, nothing if there is none.
func (s *site) drift(t *testing.T) string {
	t.Helper()
	return inWords(s.profile(t), v1alpha1.ConditionDrifted)
}

// inWords returns a condition of a profile in words, nothing if there is none.
func inWords(p *v1alpha1.WorkloadProfile, of string) string {
	c := meta.FindStatusCondition(p.Status.Conditions, of)
	if c == nil {
		return ""
	}
	return string(c.Status) + " " + c.Reason + ": " + c.Message
}

func TestWhatGaugesObserveIsInTheStatus(t *testing.T) {
	t.Parallel()
	s := newSite(t, declared("0.58"), fast())
	s.rounds(t, 4)
	if p := s.profile(t); len(p.Status.Observations) != 0 || s.drift(t) != "" {
		t.Errorf("after four minutes the status is %+v", p.Status)
	}
	s.rounds(t, 6)
	want := []v1alpha1.WorkloadObservation{{
		NodeProfile: "fast", CPULoading: new(resource.MustParse("0.585")), CPULoadingSpread: new(resource.MustParse("0.005")),
		Threads: new(resource.MustParse("1")), BurstMillis: new(resource.MustParse("2.5")), Pods: new(int32(2)),
	}}
	status := s.profile(t).Status
	if diff := cmp.Diff(want, status.Observations, cmpopts.IgnoreFields(v1alpha1.WorkloadObservation{}, "ObservedSeconds", "Time")); diff != "" {
		t.Errorf("unexpected observations (-want +got):\n%s", diff)
	}
	if got := *status.Observations[0].ObservedSeconds; got < 500 || got > 700 { // two pods for five minutes, by when it was written
		t.Errorf("observed for %d seconds", got)
	}
	if want := "False AsObserved: the vector in use fits what was observed; status.observations has the numbers"; s.drift(t) != want {
		t.Errorf("got %s", s.drift(t))
	}
	// Eight processors for three threads: none waits, and none is predicted to.
	if a := status.Accuracy; a == nil || a.MeanRelativeError.AsApproximateFloat64() > 0.001 || *a.Predictions < 2 {
		t.Errorf("the accuracy is %+v", a)
	}
}

func TestWhatGaugesObserveOfDisksIsInTheStatus(t *testing.T) {
	t.Parallel()
	s := newSite(t, declared("0.58"), fast())
	s.blocked.Store(200)
	s.rounds(t, 10)
	o := s.profile(t).Status.Observations[0]
	if o.DiskLoading.MilliValue() != 200 || o.DiskLoadingSpread.MilliValue() != 0 || o.Recommended != nil {
		t.Errorf("got %s ± %s, recommended %+v", o.DiskLoading, o.DiskLoadingSpread, o.Recommended)
	}
	if want := "True MoreObserved: disk: 0.00 in use, 0.20 ± 0.00 observed of 2 pods for 5m on nodes of fast"; s.drift(t) != want {
		t.Errorf("got  %s\nwant %s", s.drift(t), want)
	}
	s.blocked.Store(0)
	s.rounds(t, 20)
	if got := s.profile(t).Status.Observations[0].DiskLoading; got == nil || !got.IsZero() || !strings.HasPrefix(s.drift(t), "False AsObserved") {
		t.Errorf("of pods that use no disk the status has %s, %s", got, s.drift(t))
	}
	s.blocked.Store(-1)
	s.rounds(t, 20)
	if got := s.profile(t).Status.Observations[0]; got.DiskLoading != nil || got.DiskLoadingSpread != nil {
		t.Errorf("without disks the status still has %s ± %s", got.DiskLoading, got.DiskLoadingSpread)
	}
}

// Without a NodeProfile the model has a disk that serves a request at a time, so that a vector which declares none is not compared with it.
func TestOnNodesWithoutAKnownDiskOnlyVectorsWithADiskDrift(t *testing.T) {
	t.Parallel()
	s := newSite(t, declared("0.58"))
	s.blocked.Store(200)
	s.rounds(t, 10)
	if got := s.profile(t).Status.Observations[0].DiskLoading; got.MilliValue() != 200 || !strings.HasPrefix(s.drift(t), "False AsObserved") {
		t.Errorf("the status has %s, %s", got, s.drift(t))
	}
}

// Also of the pods that follow no profile.
func TestWhatIsCollectedIsKeptForReaders(t *testing.T) {
	t.Parallel()
	s := newSite(t, declared("0.58"))
	s.Collected = collected.New(s.clock)
	s.rounds(t, 10)
	age, is := s.Collected.Age()
	report, has := s.Collected.Report(nodeName, usage.MaxIntervals)
	if !is || age != 0 || !has {
		t.Fatalf("the last round is %v old (%v), and of the node there is something: %v", age, is, has)
	}
	seconds := 0.0
	for i := range report.Intervals {
		seconds += report.Intervals[i].Seconds
		if n := len(report.Intervals[i].Pods); n != 3 {
			t.Errorf("interval %d has %d pods, want 3", i, n)
		}
	}
	if seconds < 9*60 || report.Validate() != nil {
		t.Errorf("after ten minutes there are %v s, %v", seconds, report.Validate())
	}
}

func TestNothingIsWrittenWhileNumbersHardlyDiffer(t *testing.T) {
	t.Parallel()
	s := newSite(t, declared("0.58"), fast())
	s.rounds(t, 20)
	s.writes = 0
	for n := range 10 {
		s.loading.Store(580 + int64(n%2))
		s.rounds(t, 1)
	}
	if s.writes != 0 {
		t.Errorf("%d writes", s.writes)
	}
	s.rounds(t, 60)
	if s.writes != 1 {
		t.Errorf("%d writes in an hour, not one so that the time is true", s.writes)
	}
}

func TestTheBurstInUseIsTheObservedOne(t *testing.T) {
	t.Parallel()
	s := newSite(t, declared("0.58"), fast())
	s.rounds(t, 10)
	for _, micros := range []int64{2500, 2900, 2100, 0, 2500} {
		s.burst.Store(micros)
		s.rounds(t, 20)
		if got := s.profile(t).Status.Observations[0].BurstMillis; got.MilliValue() != 2500 {
			t.Errorf("at bursts of %d µs the status has %s ms, want still 2.5", micros, got)
		}
	}
	s.burst.Store(80_000)
	s.rounds(t, 20)
	if got := s.profile(t).Status.Observations[0].BurstMillis.AsApproximateFloat64(); got < 64 || got > 80 {
		t.Errorf("at bursts of 80 ms the status has %v", got)
	}
}

func TestAProfileThatIsNoLongerTrueIsSaidToHaveDriftedOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t, declared("0.58"), fast())
	s.rounds(t, 20)
	s.loading.Store(800)
	s.rounds(t, 20)
	if want := "True MoreObserved: cpu: 0.58 in use, 0.81 ± 0.00 observed of 2 pods for 15m on nodes of fast"; s.drift(t) != want {
		t.Errorf("got  %s\nwant %s", s.drift(t), want)
	}
	if len(s.events) != 1 {
		t.Fatalf("%d events", len(s.events))
	}
	if event := <-s.events; !strings.HasPrefix(event, "Warning MoreObserved cpu: 0.58 in use") {
		t.Errorf("the event is %s", event)
	}
	s.loading.Store(580)
	s.rounds(t, 20)
	if !strings.HasPrefix(s.drift(t), "False AsObserved") || len(s.events) != 0 {
		t.Errorf("afterwards: %s, and %d events", s.drift(t), len(s.events))
	}
}

func TestAManagerThatHasJustBegunGoesOnFromTheCondition(t *testing.T) {
	t.Parallel()
	drifted := declared("0.58")
	drifted.Status.Conditions = []metav1.Condition{{
		Type: v1alpha1.ConditionDrifted, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonMoreObserved, Message: "before", ObservedGeneration: 1,
	}}
	s := newSite(t, drifted, fast())
	drifted.Status.Observations = []v1alpha1.WorkloadObservation{{NodeProfile: "fast", Time: new(metav1.NewTime(s.clock.Now()))}}
	if err := s.Client.Status().Update(t.Context(), drifted); err != nil {
		t.Fatal(err)
	}
	s.loading.Store(655) // 0.66 of both: too near for a new drift, too far for an old one to end
	s.rounds(t, 3)
	if got := s.drift(t); got != "True MoreObserved: before" {
		t.Errorf("too early to say, it says %s", got)
	}
	s.rounds(t, 10)
	if got := s.drift(t); !strings.HasPrefix(got, "True MoreObserved: cpu: 0.58 in use, 0.66") {
		t.Errorf("got %s", got)
	}
}

func TestWithoutPodsTheVerdictIsForgottenAfterAnHour(t *testing.T) {
	t.Parallel()
	s := newSite(t, declared("0.2"), fast())
	s.rounds(t, 20)
	for _, name := range []string{"cart-1", "cart-2"} {
		if err := s.Client.Delete(t.Context(), pod(name, "cart")); err != nil {
			t.Fatal(err)
		}
	}
	s.rounds(t, 30)
	if got := s.drift(t); !strings.HasPrefix(got, "True MoreObserved") {
		t.Errorf("half an hour later: %s", got)
	}
	s.rounds(t, 60)
	if got := s.drift(t); !strings.HasPrefix(got, "Unknown NotObserved") {
		t.Errorf("later: %s", got)
	}
	if got := len(s.profile(t).Status.Observations); got != 1 {
		t.Errorf("%d observations are shown", got)
	}
}

func TestGaugesAreAskedWhileStatusesAreWritten(t *testing.T) {
	t.Parallel()
	s := newSite(t, declared("0.58"), fast())
	var writes atomic.Int64
	fakeClient, is := s.Client.(client.WithWatch)
	if !is {
		t.Fatalf("the client is a %T", s.Client)
	}
	s.Client = interceptor.NewClient(fakeClient, interceptor.Funcs{
		SubResourcePatch: func(ctx context.Context, _ client.Client, _ string, _ client.Object, _ client.Patch, _ ...client.SubResourcePatchOption) error {
			writes.Add(1)
			<-ctx.Done()
			return ctx.Err()
		},
	})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.run(ctx) }()
	until := func(what string, is func() bool) {
		t.Helper()
		err := wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
			s.clock.Step(collect.Period)
			return is(), nil
		})
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	until("a status is written", func() bool { return writes.Load() > 0 })
	asked := s.asked.Load()
	until("rounds go on", func() bool { return s.asked.Load() >= asked+5 })
	if got := writes.Load(); got != 1 {
		t.Errorf("the status is written %d times at once", got)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestNoMoreThanTwentyStatusesASecondAreWritten(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	noon := s.clock.Now()
	for _, test := range []struct {
		at   time.Duration
		want int
	}{{0, 1200}, {30 * time.Second, 600}, {90 * time.Second, 1200}, {time.Hour, 1200}, {time.Hour, 0}, {time.Minute, 0}} {
		if got := s.mayWrite(noon.Add(test.at)); got != test.want {
			t.Errorf("after %s %d may be written, want %d", test.at, got, test.want)
		}
	}
}

func TestTheMostUrgentStatusesAreWrittenFirst(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	noon := s.clock.Now()
	of := func(name string, minutesAgo int, verdict bool) change {
		p := declared("0.58")
		p.Name = name
		if minutesAgo >= 0 {
			p.Status.Observations = []v1alpha1.WorkloadObservation{{NodeProfile: "fast", Time: new(metav1.NewTime(noon.Add(-time.Duration(minutesAgo) * time.Minute)))}}
		}
		return change{p, p, verdict}
	}
	all := []change{of("fresh", 1, false), of("old", 9, false), of("drifted", 1, true), of("older", 20, false), of("new", -1, false)}
	for i := range all {
		s.recommended[observations.Key{Profile: client.ObjectKeyFromObject(all[i].after), Class: "fast"}] = noon
	}
	if got := s.mostUrgent(slices.Clone(all), len(all)); len(got) != len(all) {
		t.Errorf("%d of %d are written", len(got), len(all))
	}
	var got []string
	for _, c := range s.mostUrgent(slices.Clone(all), 3) {
		got = append(got, c.After.GetName())
	}
	if diff := cmp.Diff([]string{"drifted", "new", "older"}, got); diff != "" {
		t.Errorf("unexpected order (-want +got):\n%s", diff)
	}
	again := 0
	for _, c := range all {
		if _, decided := s.recommended[observations.Key{Profile: client.ObjectKeyFromObject(c.after), Class: "fast"}]; !decided {
			again++
		}
	}
	if again != 2 {
		t.Errorf("%d of the recommendations that are not written are decided on again", again)
	}
}

func TestStaticPodsAreKnownByTheirHash(t *testing.T) {
	t.Parallel()
	static := pod("cart-1", "cart")
	static.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: "hash"}
	if got := []string{uidOf(static), uidOf(pod("cart-1", "cart"))}; !cmp.Equal(got, []string{"hash", "uid-of-cart-1"}) {
		t.Errorf("got %v", got)
	}
}

func TestOnlyGaugesThatRunAreAsked(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	pending := gauge(t, "", "1")
	pending.Name, pending.UID = "pending", "pending"
	other := pod("other", "web")
	other.Status.PodIP = "10.0.0.1"
	unnamed := gauge(t, "fd00::7", "1")
	unnamed.Name, unnamed.UID, unnamed.Spec.Containers = "unnamed", "unnamed", nil
	for _, p := range []*corev1.Pod{pending, other, unnamed} {
		if err := s.Client.Create(t.Context(), p); err != nil {
			t.Fatal(err)
		}
	}
	got, err := s.Sites.list(t.Context())
	if err != nil || len(got) != 2 || got[1] != (collect.Gauge{ID: "unnamed", Node: nodeName, Address: "[fd00::7]:8443"}) {
		t.Errorf("got %+v, %v", got, err)
	}
}
