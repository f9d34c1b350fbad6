package integration

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/hack/local"
	"loadline.dev/loadline/pkg/evaluate/pools"
)

// load is what a service counts: requests per class, at rates that a test sets.
type load struct {
	mu      sync.Mutex
	classes map[string]*counter
	silent  bool
}

// counter grows with time.
type counter struct {
	count, rate float64
	since       time.Time
}

func (c *counter) now() float64 { return c.count + c.rate*time.Since(c.since).Seconds() }

// set changes the rate of a class.
func (l *load) set(class string, rate float64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.classes[class]
	if c == nil {
		c = &counter{since: time.Now()}
		l.classes[class] = c
	}
	c.count, c.rate, c.since = c.now(), rate, time.Now()
}

// silence makes the service fail.
func (l *load) silence() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.silent = true
}

func (l *load) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.silent {
		http.Error(w, "out of order", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4")
	fmt.Fprintln(w, "# TYPE requests_total counter")
	for class, c := range l.classes {
		fmt.Fprintf(w, "requests_total{class=%q} %f\n", class, c.now())
	}
}

// shop is two Deployments, the load on them, and a Prometheus that measures it.
type shop struct {
	*place
	load    *load
	address string // of Prometheus
}

func newShop(t *testing.T) *shop {
	t.Helper()
	s := &shop{place: ownEnvironment(t).newPlace(t, 0), load: &load{classes: map[string]*counter{}}}
	service := httptest.NewServer(s.load)
	t.Cleanup(service.Close)
	prometheus, err := local.StartPrometheus(t.Context(), root, t.TempDir(), 200*time.Millisecond, service.Listener.Addr().String())
	must(t, err)
	t.Cleanup(func() { must(t, prometheus.Stop()) })
	s.address = prometheus.Address()
	for _, name := range []string{"checkout", "search"} {
		must(t, s.Create(t.Context(), s.deployment(name)))
	}
	return s
}

func (p *place) deployment(name string) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	pod := p.pod(name, name)
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: p.namespace, Name: name},
		Spec: appsv1.DeploymentSpec{
			Replicas: new(int32(1)), Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: pod.Spec},
		},
	}
}

// plan reads a plan with a pool for each Deployment. The blanks in the classes
// are the arrivals.
func (s *shop) plan(t *testing.T, checkout, search string) *v1alpha1.PoolPlan {
	t.Helper()
	plan := &v1alpha1.PoolPlan{ObjectMeta: metav1.ObjectMeta{Name: s.namespace}}
	must(t, yaml.UnmarshalStrict(fmt.Appendf(nil, `
mode: apply
prometheus: {address: %q, intervalSeconds: 1, maxAgeSeconds: 3}
classes:
- {name: checkout, arrival: %s, service: {meanMillis: 100}, sla: {responseTimeMillis: 500}}
- {name: search, arrival: %s, service: {meanMillis: 50}, sla: {responseTimeMillis: 200}}
pools:
- {name: checkout, classes: [checkout], scaleTarget: {apiVersion: apps/v1, kind: Deployment, namespace: %[4]s, name: checkout}, maxServers: 500, serversPerReplica: 5}
- {name: search, classes: [search], scaleTarget: {apiVersion: apps/v1, kind: Deployment, namespace: %[4]s, name: search}, maxServers: 500, serversPerReplica: 5}
scaling: {stabilizationSeconds: 3, minSecondsBetweenSteps: 1, maxStepServers: 5}
`, s.address, checkout, search, s.namespace), &plan.Spec))
	return plan
}

// measuredPlan is a plan that asks Prometheus.
func (s *shop) measuredPlan(t *testing.T) *v1alpha1.PoolPlan {
	t.Helper()
	query := func(class string) string {
		return fmt.Sprintf(`{query: 'sum(rate(requests_total{class=%q}[2s]))'}`, class)
	}
	return s.plan(t, query("checkout"), query("search"))
}

// needed returns how many replicas the two pools need at some rates, and checks
// that it is as many, up or down, at somewhat other ones: what Prometheus measures
// is near the rate, not the rate.
func (s *shop) needed(t *testing.T, checkout, search float64) []int32 {
	t.Helper()
	var needed []int32
	for _, off := range []float64{1, 0.97, 1.03} {
		in := pools.Input{Plan: s.measuredPlan(t), Measured: []pools.Measurement{
			{Class: "checkout", Arrival: &pools.Reading{Value: checkout * off}},
			{Class: "search", Arrival: &pools.Reading{Value: search * off}},
		}}
		a, err := pools.Plan(t.Context(), in)
		must(t, err)
		for _, p := range a.Pools {
			needed = append(needed, int32(p.Bounds.Replicas), int32(p.Bounds.ReplicasToKeep))
		}
	}
	for i, n := range needed {
		if n != needed[i%4/2*2] {
			t.Fatalf("the rates %v and %v are near a boundary: %v", checkout, search, needed)
		}
	}
	return []int32{needed[0], needed[2]}
}

// replicas returns what the two Deployments are asked to have.
func (s *shop) replicas(ctx context.Context) ([]int32, error) {
	var replicas []int32
	for _, name := range []string{"checkout", "search"} {
		var d appsv1.Deployment
		if err := s.Get(ctx, client.ObjectKey{Namespace: s.namespace, Name: name}, &d); err != nil {
			return nil, err
		}
		replicas = append(replicas, *d.Spec.Replicas)
	}
	return replicas, nil
}

// awaitReplicas waits until the Deployments are as wanted.
func (s *shop) awaitReplicas(t *testing.T, wanted func([]int32) bool) {
	t.Helper()
	var got []int32
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		var err error
		got, err = s.replicas(ctx)
		return err == nil && wanted(got), err
	})
	if err != nil {
		plan := &v1alpha1.PoolPlan{}
		must(t, s.Get(t.Context(), client.ObjectKey{Name: s.namespace}, plan))
		t.Fatalf("waiting for the Deployments: %v; they have %v replicas; the plan is %+v", err, got, plan.Status)
	}
}

func exactly(want []int32) func([]int32) bool {
	return func(got []int32) bool { return slices.Equal(got, want) }
}

// audit follows how many replicas a Deployment is asked to have: every number
// that it ever was, in order.
func (s *shop) audit(t *testing.T, name string) (stop func() []int32) {
	t.Helper()
	watcher, err := s.Watch(t.Context(), &appsv1.DeploymentList{}, client.InNamespace(s.namespace))
	must(t, err)
	var seen []int32
	done := make(chan struct{})
	go func() {
		defer close(done)
		for event := range watcher.ResultChan() {
			d, ok := event.Object.(*appsv1.Deployment)
			if ok && d.Name == name && (len(seen) == 0 || seen[len(seen)-1] != *d.Spec.Replicas) {
				seen = append(seen, *d.Spec.Replicas)
			}
		}
	}()
	return func() []int32 {
		watcher.Stop()
		<-done
		return seen
	}
}

// awaitPlan waits until a condition of the plan is as given.
func (s *shop) awaitPlan(t *testing.T, kind string, status metav1.ConditionStatus, reason, text string) *v1alpha1.PoolPlan {
	t.Helper()
	plan := &v1alpha1.PoolPlan{ObjectMeta: metav1.ObjectMeta{Name: s.namespace}}
	s.await(t, plan, func() bool { return has(plan.Status.Conditions, kind, status, reason, text) })
	return plan
}

// awaitScaledEvent waits for the event that tells of a scaling.
func (s *shop) awaitScaledEvent(t *testing.T, text string) {
	t.Helper()
	must(t, wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		var list eventsv1.EventList
		err := s.List(ctx, &list)
		return slices.ContainsFunc(list.Items, func(e eventsv1.Event) bool {
			return e.Regarding.Kind == "PoolPlan" && e.Reason == v1alpha1.ReasonScaled && strings.Contains(e.Note, text)
		}), err
	}))
}

func TestAPlanFollowsTheRatesThatPrometheusMeasures(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.load.set("checkout", 60)
	s.load.set("search", 120)
	manager := s.startManager(t)
	low := s.needed(t, 60, 120)
	must(t, s.Create(t.Context(), s.measuredPlan(t)))
	s.awaitReplicas(t, exactly(low))
	s.awaitScaledEvent(t, fmt.Sprintf("to %d replicas", low[0]))
	plan := s.awaitPlan(t, v1alpha1.ConditionApplied, metav1.ConditionTrue, v1alpha1.ReasonAtTarget, "")
	if v := plan.Status.Inputs[0].Arrival; v.Source != v1alpha1.SourceQuery || v.Value.AsApproximateFloat64() < 55 || v.Value.AsApproximateFloat64() > 65 {
		t.Errorf("the measured rate is %+v, it is 60", v)
	}

	// Up in steps; the manager is killed between two of them.
	high := s.needed(t, 205, 500)
	s.load.set("checkout", 205)
	s.load.set("search", 500)
	s.awaitReplicas(t, func(got []int32) bool { return got[0] > low[0] })
	must(t, manager.Kill())
	between, err := s.replicas(t.Context())
	must(t, err)
	if slices.Equal(between, high) {
		t.Fatal("the manager was done before the test could kill it")
	}
	s.startManager(t)
	s.awaitReplicas(t, exactly(high))

	// Down again.
	s.load.set("checkout", 60)
	s.load.set("search", 120)
	s.awaitReplicas(t, exactly(low))

	// Without arrival rates nothing is scaled, for as long as they are missing.
	stop := s.audit(t, "checkout")
	s.load.silence()
	s.awaitPlan(t, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonStaleData, `class "checkout": its arrival rate is not known: the last answer is`)
	s.awaitPlan(t, v1alpha1.ConditionApplied, metav1.ConditionUnknown, v1alpha1.ReasonStaleData, "nothing is scaled")
	if seen := stop(); len(seen) > 1 {
		t.Errorf("without data the Deployment was scaled: %v", seen)
	}
}

// At a boundary between two numbers of servers a noisy rate scales the pool once.
func TestAPoolDoesNotFlapAtABoundary(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	boundary, servers := s.boundary(t, 200)
	s.load.set("checkout", boundary)
	s.load.set("search", 100)
	s.startManager(t)
	must(t, s.Create(t.Context(), s.measuredPlan(t)))
	near := func(got []int32) bool { return got[0] == servers || got[0] == servers+1 }
	s.awaitReplicas(t, near)

	stop := s.audit(t, "checkout")
	ticks := time.NewTicker(1500 * time.Millisecond)
	defer ticks.Stop()
	for i := range 10 { // 5 % below, 4 % above, and so on, for five stabilization times
		s.load.set("checkout", boundary*[]float64{0.95, 1.04}[i%2])
		<-ticks.C
	}
	if seen := stop(); len(seen) > 2 || seen[len(seen)-1] != servers+1 {
		t.Errorf("the boundary is between %d and %d replicas; the Deployment was asked to have %v, one after the other", servers, servers+1, seen)
	}
}

// boundary returns a rate from which on the checkout pool needs another server
// than the number returned.
func (s *shop) boundary(t *testing.T, from float64) (rate float64, servers int32) {
	t.Helper()
	at := func(rate float64) int32 {
		in := pools.Input{Plan: s.measuredPlan(t), Measured: []pools.Measurement{
			{Class: "checkout", Arrival: &pools.Reading{Value: rate}}, {Class: "search", Arrival: &pools.Reading{Value: 100}},
		}}
		a, err := pools.Plan(t.Context(), in)
		must(t, err)
		return int32(a.Pools[0].Bounds.Replicas)
	}
	servers = at(from)
	for rate = from; at(rate) == servers; {
		rate++
	}
	return rate, servers
}

func TestAPlanSaysWhyATargetIsNotScaled(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	must(t, s.Delete(t.Context(), s.deployment("search")))
	s.startManagerWithItsRole(t)
	must(t, s.Create(t.Context(), s.plan(t, "{ratePerSecond: 60}", "{ratePerSecond: 120}")))
	want := s.needed(t, 60, 120)

	// The manager may not scale anything until it has the right.
	s.awaitPlan(t, v1alpha1.ConditionApplied, metav1.ConditionFalse, v1alpha1.ReasonTargetForbidden,
		`pool "checkout": deployments.apps "checkout" is forbidden: User "system:serviceaccount:default:loadline-manager" cannot get resource "deployments/scale" in API group "apps"`)
	s.letScale(t)
	s.awaitPlan(t, v1alpha1.ConditionApplied, metav1.ConditionFalse, v1alpha1.ReasonTargetNotFound, fmt.Sprintf(`pool "search": Deployment %s/search does not exist`, s.namespace))
	deployment := s.deployment("checkout")
	s.await(t, deployment, func() bool { return *deployment.Spec.Replicas == want[0] }) // the other pool goes on

	search := s.deployment("search")
	must(t, s.Create(t.Context(), search))
	s.awaitReplicas(t, exactly(want))
	s.awaitPlan(t, v1alpha1.ConditionApplied, metav1.ConditionTrue, v1alpha1.ReasonAtTarget, "")

	// What another autoscaler scales is left alone.
	rival := &autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "rival"},
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "search"},
			MaxReplicas:    100,
		},
	}
	must(t, s.Create(t.Context(), rival))
	s.awaitPlan(t, v1alpha1.ConditionApplied, metav1.ConditionFalse, v1alpha1.ReasonHPAConflict, fmt.Sprintf(`pool "search": the HorizontalPodAutoscaler %s/rival scales`, s.namespace))
	s.change(t, search, func() { search.Spec.Replicas = new(int32(1)) }) // as the rival might
	plan := s.awaitPlan(t, v1alpha1.ConditionApplied, metav1.ConditionFalse, v1alpha1.ReasonHPAConflict, "")
	s.await(t, plan, func() bool { return *plan.Status.Pools[1].CurrentReplicas == 1 })
	must(t, s.Delete(t.Context(), rival))
	s.awaitReplicas(t, exactly(want))

	// What has no /scale is not scaled.
	s.change(t, plan, func() {
		plan.Spec.Pools[1].ScaleTarget = &v1alpha1.ScaleTarget{APIVersion: "cluster.x-k8s.io/v1beta1", Kind: "MachineDeployment", Namespace: s.namespace, Name: "search"}
	})
	s.awaitPlan(t, v1alpha1.ConditionApplied, metav1.ConditionFalse, v1alpha1.ReasonTargetNotFound, "the cluster has no kind MachineDeployment of cluster.x-k8s.io/v1beta1")
}

// letScale binds the role that lets the manager scale.
func (s *shop) letScale(t *testing.T) {
	t.Helper()
	role := &rbacv1.ClusterRole{}
	s.createFrom(t, "config/rbac/scaler.yaml", role)
	must(t, s.Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: role.Name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: "default", Name: "loadline-manager"}},
	}))
}
