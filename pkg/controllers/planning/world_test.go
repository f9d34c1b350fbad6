package planning

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	testingclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/controllers/remediation"
	"loadline.dev/loadline/pkg/evaluate/remediations"
	"loadline.dev/loadline/pkg/gauge/collect"
	"loadline.dev/loadline/pkg/gauge/collected"
	"loadline.dev/loadline/pkg/gauge/usage"
)

var noon = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

// period is the time between two readings of the gauges.
const period = 10 * time.Second

// world is a cluster whose gauges have observed its nodes for a while. On worker-1, shop/cart waits for etl/sort; on worker-3, web/api
// is held back by its limit; worker-2 is idle.
type world struct {
	client.WithWatch
	*Proposer

	clock *testingclock.FakeClock
	// seen are the pods that gauges see, by nodes.
	seen map[string][]usage.Pod
	// disks are the disks that they see, by nodes.
	disks map[string][]usage.Disk
}

func newWorld(t *testing.T, objects ...client.Object) *world {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, policyv1.AddToScheme, batchv1.AddToScheme, autoscalingv2.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	w := &world{clock: testingclock.NewFakeClock(noon)}
	w.WithWatch = fake.NewClientBuilder().WithScheme(scheme).
		WithStatusSubresource(&v1alpha1.Remediation{}, &v1alpha1.RemediationPolicy{}).
		WithIndex(&corev1.Pod{}, nodeField, func(o client.Object) []string { return []string{o.(*corev1.Pod).Spec.NodeName} }). //nolint:errcheck // only pods are indexed
		WithObjects(objects...).WithObjects(
		worker("worker-1"), worker("worker-2"), worker("worker-3"), namespace("shop"), namespace("etl"), namespace("web"), namespace("loadline-system"),
		pod("shop", "cart", "worker-1", "50m", ""), pod("etl", "sort", "worker-1", "500m", ""), pod("web", "api", "worker-3", "100m", "300m"),
	).Build()
	w.seen = map[string][]usage.Pod{
		"worker-1": {sees("cart", 0.6, 1-1/6.6, 0), sees("sort", 1, 0.08, 0)}, "worker-2": nil, "worker-3": {sees("api", 0.5, 0, 0.4)},
	}
	w.Proposer = &Proposer{
		Client: w.WithWatch, API: w.WithWatch, Clock: w.clock, Pods: func(ctx context.Context) ([]corev1.Pod, error) { return readPods(ctx, w.WithWatch) },
		Count: func(context.Context) (int, error) { return len(w.seen), nil }, Collected: collected.New(w.clock), Namespace: "loadline-system",
		Schedulers: []string{"loadline"}, Resizable: func(context.Context) (bool, error) { return true, nil }, Metrics: NewMetrics(prometheus.NewRegistry()),
	}
	w.pass(5 * time.Minute)
	return w
}

// pass has time pass, in which the gauges see what they do.
func (w *world) pass(by time.Duration) {
	start := w.clock.Now()
	w.clock.SetTime(start.Add(by))
	for _, name := range slices.Sorted(maps.Keys(w.seen)) {
		o := &collect.Observed{Gauge: collect.Gauge{ID: "gauge-of-" + name, Node: name}, Ended: w.clock.Now()}
		for end := start.Add(period); !end.After(w.clock.Now()); end = end.Add(period) {
			v := usage.Interval{Node: name, Start: end.Add(-period), End: end, Seconds: period.Seconds(), CPUs: 1, CgroupVersion: 2, Pods: w.seen[name], Disks: w.disks[name]}
			for i := range v.Pods {
				v.BusySeconds += v.Pods[i].Run
			}
			o.Intervals = append(o.Intervals, v)
		}
		w.Collected.Add(o)
	}
	w.Collected.EndRound(nil)
}

// sees is a pod of one thread as a gauge sees it for ten seconds, of which parts are spent waiting and throttled.
func sees(name string, loading, wait, throttled float64) usage.Pod {
	neutral := 1 - wait - throttled
	return usage.Pod{
		UID: "uid-" + name, Seconds: 10, Tasks: 1, Threads: 1, Dilation: 1 / neutral, CPULoading: loading,
		Times: usage.Times{Run: 10 * loading * neutral, Wait: 10 * wait, Throttled: 10 * throttled},
	}
}

func worker(name string) *corev1.Node {
	amounts := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1"), corev1.ResourcePods: resource.MustParse("110"), corev1.ResourceMemory: resource.MustParse("8Gi")}
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.NodeStatus{Allocatable: amounts, Capacity: amounts}}
}

func namespace(name string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

// pod is a pod of one of two replicas of a Deployment of its name, as far as the rules for disruption see.
func pod(namespace, name, node, request, limit string) *corev1.Pod {
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: name, UID: types.UID("uid-" + name), Labels: map[string]string{"pod-template-hash": "5d4f"},
			Annotations:     map[string]string{"descheduler.alpha.kubernetes.io/evict": "true"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: name + "-5d4f", UID: types.UID("rs-" + name), Controller: new(true)}},
		},
		Spec: corev1.PodSpec{SchedulerName: "loadline", NodeName: node, Containers: []corev1.Container{{Name: "main"}}},
		Status: corev1.PodStatus{
			Phase: corev1.PodRunning, StartTime: new(metav1.NewTime(noon.Add(-time.Hour))),
			Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
		},
	}
	amounts := &p.Spec.Containers[0].Resources
	amounts.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(request), corev1.ResourceMemory: resource.MustParse("64Mi")}
	if limit != "" {
		amounts.Limits = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(limit)}
	}
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", Resources: amounts.DeepCopy()}}
	return p
}

// policy is one that proposes all changes of all pods.
func policy(change ...func(*v1alpha1.RemediationPolicySpec)) *v1alpha1.RemediationPolicy {
	p := &v1alpha1.RemediationPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "all", CreationTimestamp: metav1.NewTime(noon.Add(-time.Hour))},
		Spec:       v1alpha1.RemediationPolicySpec{Mode: v1alpha1.RemediationAdvise},
	}
	for _, c := range change {
		c(&p.Spec)
	}
	return p
}

// allowing has a policy allow some actions only, and make changes.
func allowing(actions ...string) func(*v1alpha1.RemediationPolicySpec) {
	return func(s *v1alpha1.RemediationPolicySpec) { s.Mode, s.Allow = v1alpha1.RemediationAutomatic, actions }
}

// propose has changes proposed.
func (w *world) propose(t *testing.T) {
	t.Helper()
	if err := w.Propose(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// all returns the Remediations.
func (w *world) all(t *testing.T) []v1alpha1.Remediation {
	t.Helper()
	var list v1alpha1.RemediationList
	if err := w.List(t.Context(), &list); err != nil {
		t.Fatal(err)
	}
	return list.Items
}

// proposed returns the changes of the Remediations that are not complete, each as NAMESPACE/POD: CHANGE, in order.
func (w *world) proposed(t *testing.T) []string {
	t.Helper()
	changes := []string{}
	for _, r := range w.all(t) {
		if !remediations.Complete(&r) {
			changes = append(changes, r.Namespace+"/"+r.Spec.Pod.Name+": "+remediations.Describe(&r.Spec.Change))
		}
	}
	slices.Sort(changes)
	return changes
}

// of returns the Remediation of a pod.
func (w *world) of(t *testing.T, pod string) *v1alpha1.Remediation {
	t.Helper()
	all := w.all(t)
	for i := range all {
		if all[i].Namespace+"/"+all[i].Spec.Pod.Name == pod {
			return &all[i]
		}
	}
	t.Fatalf("there is no Remediation of %s", pod)
	return nil
}

// become writes the status of a change.
func (w *world) become(t *testing.T, r *v1alpha1.Remediation, status v1alpha1.RemediationStatus) {
	t.Helper()
	r.Status = status
	if err := w.Status().Update(t.Context(), r); err != nil {
		t.Fatal(err)
	}
}

// running is the status of a change that was started a while ago, and made soon afterwards.
func (w *world) running(ago time.Duration) v1alpha1.RemediationStatus {
	start := w.clock.Now().Add(-ago)
	return v1alpha1.RemediationStatus{
		StartTime: new(metav1.NewTime(start)), AppliedTime: new(metav1.NewTime(start.Add(10 * time.Second))),
		Conditions: []metav1.Condition{{Type: v1alpha1.ConditionComplete, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonObserving}},
	}
}

// ended is the status of a change that is complete.
func (w *world) ended(outcome string, started bool) v1alpha1.RemediationStatus {
	status := v1alpha1.RemediationStatus{
		CompletionTime: new(metav1.NewTime(w.clock.Now())),
		Conditions:     []metav1.Condition{{Type: v1alpha1.ConditionComplete, Status: metav1.ConditionTrue, Reason: outcome}},
	}
	if started {
		status.StartTime, status.AppliedTime = status.CompletionTime, status.CompletionTime
	}
	return status
}

// change changes an object.
func change[O client.Object](t *testing.T, w *world, o O, namespace, name string, how func(O)) {
	t.Helper()
	if err := w.Get(t.Context(), types.NamespacedName{Namespace: namespace, Name: name}, o); err != nil {
		t.Fatal(err)
	}
	how(o)
	if err := w.Update(t.Context(), o); err != nil {
		t.Fatal(err)
	}
}

// judge returns a judge of the world.
func (w *world) judge() *Judge {
	return &Judge{Client: w.WithWatch, API: w.WithWatch, Collected: w.Collected, Clock: w.clock}
}

// judged returns the judgement of a change.
func (w *world) judged(t *testing.T, r *v1alpha1.Remediation) remediation.Judgement {
	t.Helper()
	judgement, err := w.judge().Judge(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return judgement
}

// mostly reports whether a list of texts has one with a part.
func mostly(all []string, part string) bool {
	return slices.ContainsFunc(all, func(s string) bool { return strings.Contains(s, part) })
}
