package invariant

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/hack/chaos/link"
)

// noon is when the tests begin.
var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// never says that no client missed anything.
func never(string, time.Time, time.Time) bool { return false }

// expect fails the test unless there is one text that contains another one, or none where that is "".
func expect(t *testing.T, got []string, want string) {
	t.Helper()
	if want == "" && len(got) > 0 || want != "" && (len(got) != 1 || !strings.Contains(got[0], want)) {
		t.Errorf("got %q, want one with %q", got, want)
	}
}

// came is the event of an object that is new or changed.
func came(o client.Object) Event { return Event{At: noon, Object: o} }

func pod(name, app, node string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID("uid-" + name), Labels: map[string]string{"app": app}},
		Spec: corev1.PodSpec{NodeName: node, SchedulerName: scheduler, Containers: []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m")}, Limits: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("300m")},
		}}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning},
	}
}

func TestAPodThatMovesIsPlacedTwice(t *testing.T) {
	t.Parallel()
	r := NewPlacedOnce()
	expect(t, r.Event(came(pod("a", "web", ""))), "")
	expect(t, r.Event(came(pod("a", "web", "one"))), "")
	expect(t, r.Event(came(pod("a", "web", "one"))), "")
	expect(t, r.Event(came(pod("a", "web", "two"))), `pod shop/a was on node one and is on "two"`)
	expect(t, r.Event(Event{Object: pod("a", "web", "one"), Deleted: true}), "")
	expect(t, r.Event(came(pod("a", "web", "two"))), "")
}

// bounded is a rule that has seen a node with one disk, and pods that use the disk all the time and may be dilated 1.5 times.
func bounded(disturbed func(string, time.Time, time.Time) bool) *BoundsKept {
	r := NewBoundsKept(disturbed, never)
	for _, o := range []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop", Labels: map[string]string{v1alpha1.GuardLabel: "enforce"}}},
		&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "one"}, Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4")}}},
		&v1alpha1.WorkloadProfile{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "disk"}, Spec: v1alpha1.WorkloadProfileSpec{
			Selector:  &metav1.LabelSelector{MatchLabels: map[string]string{"app": "disk"}},
			Resources: []v1alpha1.ResourceDemand{{Name: "disk", Loading: new(resource.MustParse("1"))}}, SLA: &v1alpha1.SLA{MaxDilation: new(resource.MustParse("1.5"))},
		}},
	} {
		r.Event(came(o))
	}
	return r
}

// bound tells a rule that a client has placed a pod some time after noon, and returns what is wrong with that.
func bound(r *BoundsKept, by string, p *corev1.Pod, after time.Duration) []string {
	r.Request(link.Passed{Client: by, Method: http.MethodPost, Path: "/api/v1/namespaces/shop/pods/" + p.Name + "/binding", Status: http.StatusCreated})
	return r.Event(Event{At: noon.Add(after), Object: p})
}

func TestAPodThatComesBesideAnotherExceedsABound(t *testing.T) {
	t.Parallel()
	const exceeds = "pod shop/second came to node one at 12:01:00, where shop/"
	for name, test := range map[string]struct {
		by        string
		after     time.Duration
		app       string
		disturbed func(string, time.Time, time.Time) bool
		first     func(*corev1.Pod)
		want      string
		excused   int
	}{
		"by the same scheduler":              {by: "one", after: time.Minute, app: "disk", want: exceeds},
		"by another that saw it":             {by: "two", after: time.Minute, app: "disk", want: exceeds},
		"by another that may not have":       {by: "two", after: time.Minute, app: "disk", disturbed: func(who string, _, _ time.Time) bool { return who == "two" }, excused: 1},
		"by another at almost the same time": {by: "two", after: time.Second, app: "disk", excused: 1},
		"by one that was not told of its own": {
			by: "one", after: time.Minute, app: "disk", excused: 1,
			disturbed: func(_ string, from, to time.Time) bool { return from.Before(noon) && to.After(noon) },
		},
		"of another kind":           {by: "one", after: time.Minute, app: "other"},
		"beside one that has ended": {by: "one", after: time.Minute, app: "disk", first: func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if test.disturbed == nil {
				test.disturbed = never
			}
			r, first := bounded(test.disturbed), pod("first", "disk", "one")
			if test.first != nil {
				test.first(first)
			}
			expect(t, bound(r, "one", first, 0), "")
			expect(t, bound(r, test.by, pod("second", test.app, "one"), test.after), test.want)
			if r.Excused != test.excused {
				t.Errorf("%d are excused, want %d", r.Excused, test.excused)
			}
		})
	}
}

func TestASchedulerThatWatchesNoProfilesIsExcused(t *testing.T) {
	t.Parallel()
	r := bounded(never)
	r.blind = func(who string, from, to time.Time) bool {
		return who == "one" && to.Sub(from) == late && to.Equal(noon.Add(time.Minute))
	}
	expect(t, bound(r, "one", pod("first", "disk", "one"), 0), "")
	expect(t, bound(r, "one", pod("second", "disk", "one"), time.Minute), "")
	if r.Excused != 1 {
		t.Errorf("%d are excused, want 1", r.Excused)
	}
	expect(t, bound(r, "one", pod("third", "disk", "one"), 2*time.Minute), "pod shop/third came to node one")
}

func TestPodsOfOtherSchedulersAreNotJudged(t *testing.T) {
	t.Parallel()
	r, other := bounded(never), pod("second", "disk", "one")
	other.Spec.SchedulerName = "default-scheduler"
	expect(t, bound(r, "one", pod("first", "disk", "one"), 0), "")
	expect(t, bound(r, "kube", other, time.Minute), "")
	if r.Judged != 1 {
		t.Errorf("%d were judged, want 1", r.Judged)
	}
}

// raised is a Remediation that was started and raises the limit of pod a.
func raised(name, from, to string) *v1alpha1.Remediation {
	return &v1alpha1.Remediation{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID(name)},
		Spec: v1alpha1.RemediationSpec{
			Pod: v1alpha1.RemediationPod{Name: "a", UID: "uid-a", Node: "one"},
			Change: v1alpha1.RemediationChange{
				Action: v1alpha1.ActionRaiseLimit, Container: "main", Limit: &v1alpha1.CPUChange{From: new(resource.MustParse(from)), To: new(resource.MustParse(to))},
			},
		},
		Status: v1alpha1.RemediationStatus{StartTime: new(metav1.NewTime(noon))},
	}
}

// limited returns pod a with a limit.
func limited(limit string) *corev1.Pod {
	p := pod("a", "web", "one")
	p.Spec.Containers[0].Resources.Limits[corev1.ResourceCPU] = resource.MustParse(limit)
	return p
}

func TestAResizeIsMadeOnceAndUndoneOnce(t *testing.T) {
	t.Parallel()
	r := NewChangedOnce()
	r.Event(came(raised("r", "300m", "400m")))
	r.Event(came(limited("300m")))
	expect(t, r.Event(came(limited("400m"))), "")
	expect(t, r.Event(came(limited("300m"))), "")
	expect(t, r.Event(came(limited("400m"))), "for Remediation r for the 2. time")
	expect(t, r.Event(came(limited("300m"))), "undoing Remediation r for the 2. time")
	expect(t, r.Event(came(limited("900m"))), "")
	expect(t, r.Rest(), "for no Remediation that was started")
	expect(t, r.Rest(), "")
}

// Remediations are watched apart from pods: one may be seen after what is done for it, but not be started after that.
func TestAChangeMayBeSeenBeforeItsRemediation(t *testing.T) {
	t.Parallel()
	r, later := NewChangedOnce(), raised("later", "400m", "500m")
	later.Status.StartTime = new(metav1.NewTime(noon.Add(time.Hour)))
	r.Event(came(limited("300m")))
	expect(t, r.Event(came(limited("400m"))), "")
	expect(t, r.Event(came(limited("300m"))), "")
	expect(t, r.Event(came(limited("400m"))), "")
	expect(t, r.Event(came(raised("r", "300m", "400m"))), "for Remediation r for the 2. time")
	expect(t, r.Event(came(limited("500m"))), "")
	expect(t, r.Event(came(later)), "")
	expect(t, r.Rest(), "limit 500m, and 400m before, for no Remediation that was started")
}

func TestAResizeOfAChangeThatWasNotStartedIsWrong(t *testing.T) {
	t.Parallel()
	r, change := NewChangedOnce(), raised("r", "300m", "400m")
	change.Status.StartTime = nil
	r.Event(came(change))
	r.Event(came(limited("300m")))
	expect(t, r.Event(came(limited("400m"))), "")
	expect(t, r.Rest(), "for no Remediation that was started")
}

// eviction is a request to evict pod a with a UID, "" for any.
func eviction(t *testing.T, uid string, status int, query string) link.Passed {
	t.Helper()
	e := policyv1.Eviction{TypeMeta: metav1.TypeMeta{APIVersion: "policy/v1", Kind: "Eviction"}, ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "a"}}
	if uid != "" {
		e.DeleteOptions = &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: new(types.UID(uid))}}
	}
	body, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	return link.Passed{Client: "manager-0", Method: http.MethodPost, Path: "/api/v1/namespaces/shop/pods/a/eviction", Query: query, Body: body, Status: status}
}

func TestAnEvictionIsForAMoveOfThePod(t *testing.T) {
	t.Parallel()
	r, move := NewChangedOnce(), raised("r", "300m", "400m")
	move.Spec.Change = v1alpha1.RemediationChange{Action: v1alpha1.ActionMove}
	expect(t, r.Request(eviction(t, "uid-a", http.StatusCreated, "")), "")
	expect(t, r.Event(came(move)), "")
	expect(t, r.Rest(), "")
	expect(t, r.Request(eviction(t, "uid-a", http.StatusCreated, "")), "")
	expect(t, r.Request(eviction(t, "uid-of-the-next", http.StatusCreated, "")), "")
	expect(t, r.Rest(), "manager-0 evicted pod shop/a, for no Remediation")
	later := move.DeepCopy()
	later.UID, later.Spec.Pod.UID, later.CreationTimestamp = "later", "uid-b", metav1.NewTime(time.Now().Add(time.Hour))
	expect(t, r.Request(eviction(t, "uid-b", http.StatusCreated, "")), "")
	r.Event(came(later))
	expect(t, r.Rest(), "for no Remediation")
	expect(t, r.Request(eviction(t, "", http.StatusCreated, "")), "the eviction is of any pod with the name")
	expect(t, r.Request(eviction(t, "", http.StatusTooManyRequests, "")), "")
	expect(t, r.Request(eviction(t, "", http.StatusCreated, "dryRun=All")), "")
}

func TestATargetOfAPoolPlanStaysWithinItsBounds(t *testing.T) {
	t.Parallel()
	r := NewWithinPools()
	deployment := func(name string, n int32) *appsv1.Deployment {
		return &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}, Spec: appsv1.DeploymentSpec{Replicas: &n}}
	}
	r.Event(came(&v1alpha1.PoolPlan{Spec: v1alpha1.PoolPlanSpec{Pools: []v1alpha1.PlannedPool{{
		Name: "p", MinServers: new(int32(6)), MaxServers: new(int32(40)), ServersPerReplica: new(int32(5)),
		ScaleTarget: &v1alpha1.ScaleTarget{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "shop", Name: "web"},
	}}}}))
	for n, want := range map[int32]string{1: "has 1 replicas, and pool p has 2 to 8", 2: "", 8: "", 9: "has 9 replicas"} {
		expect(t, r.Event(came(deployment("web", n))), want)
	}
	expect(t, r.Event(came(deployment("other", 100))), "")
}

func TestLoadlineDeletesNoPods(t *testing.T) {
	t.Parallel()
	r := NewNoPodDeleted()
	ask := func(method, path string, status int) []string {
		return r.Request(link.Passed{Client: "scheduler-0", Method: method, Path: path, Status: status})
	}
	expect(t, ask(http.MethodDelete, "/api/v1/namespaces/shop/pods/a", http.StatusOK), "scheduler-0 deleted /api/v1/namespaces/shop/pods/a")
	expect(t, ask(http.MethodDelete, "/api/v1/namespaces/shop/pods", http.StatusOK), "scheduler-0 deleted")
	expect(t, ask(http.MethodDelete, "/api/v1/namespaces/shop/pods/a", http.StatusNotFound), "")
	expect(t, ask(http.MethodDelete, "/apis/batch/v1/namespaces/shop/jobs/pods", http.StatusOK), "")
	expect(t, ask(http.MethodPost, "/api/v1/namespaces/shop/pods/a/binding", http.StatusCreated), "")
}

func TestEveryRuleHasAName(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, r := range Rules(never, never) {
		if name := r.Name(); name == "" || seen[name] {
			t.Errorf("the name %q of %T is empty or of another one", name, r)
		}
		seen[r.Name()] = true
	}
}

func TestPanicsAreFoundInLogs(t *testing.T) {
	t.Parallel()
	expect(t, Panics("manager-0", "I0101 all is well\nE0101 Observed a panic: index out of range\ngoroutine 1"), "manager-0: E0101 Observed a panic: index out of range")
	expect(t, Panics("manager-0", "I0101 all is well\n"), "")
}

func TestTheEffectOfARequestIsNamed(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"/api/v1/namespaces/shop/pods/a/eviction":                  "POST pods/eviction",
		"/apis/batch/v1/namespaces/shop/jobs":                      "POST jobs",
		"/apis/loadline.dev/v1alpha1/poolplans/p/status":           "POST poolplans/status",
		"/apis/coordination.k8s.io/v1/namespaces/a/leases/manager": "",
		"/healthz": "",
	} {
		if got := Effect(&link.Passed{Method: http.MethodPost, Path: path, Status: http.StatusOK}); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	if got := Effect(&link.Passed{Method: http.MethodPost, Path: "/api/v1/namespaces", Status: http.StatusConflict}); got != "" {
		t.Errorf("what failed has the effect %q", got)
	}
}
