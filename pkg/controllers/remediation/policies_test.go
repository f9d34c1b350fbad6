package remediation

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	testingclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/controllers/statuses"
	"loadline.dev/loadline/pkg/evaluate/remediations"
)

// policies returns a reconciler of policies in a world.
func (w *world) policies() *PolicyReconciler {
	return &PolicyReconciler{
		Client: w.Client, Recorder: &events.FakeRecorder{Events: w.events}, Clock: w.clock, Pods: w, Namespace: "loadline-system", Metrics: w.Metrics,
	}
}

// Labels returns the labels of the pods of a namespace, as [pods.Cache] does.
func (w *world) Labels(ctx context.Context, namespace string) ([]labels.Set, error) {
	return statuses.Labels(ctx, w.Client, corev1.SchemeGroupVersion.WithKind("Pod"), client.InNamespace(namespace))
}

// judgedChange is one that ended and has won a part of the 0.50 that were predicted.
func judgedChange(name string, ended time.Time, won float64) *v1alpha1.Remediation {
	return move(func(r *v1alpha1.Remediation) {
		r.Name, r.UID = name, types.UID(name)
		r.Status.StartTime, r.Status.CompletionTime = new(metav1.NewTime(ended)), new(metav1.NewTime(ended))
		r.Status.Realized = &v1alpha1.RealizedWin{Win: remediations.Quantity(won), Low: remediations.Quantity(won), High: remediations.Quantity(won)}
		r.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionComplete, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonSucceeded}}
	})
}

func reconcilePolicy(t *testing.T, r *PolicyReconciler, name string) *v1alpha1.RemediationPolicy {
	t.Helper()
	key := types.NamespacedName{Name: name}
	if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: key}); err != nil {
		t.Fatal(err)
	}
	var p v1alpha1.RemediationPolicy
	if err := r.Client.Get(t.Context(), key, &p); err != nil {
		t.Fatal(err)
	}
	return &p
}

func TestAPolicyWhoseChangesWinTooLittleStartsNoMoreAndWarns(t *testing.T) {
	t.Parallel()
	w := newWorld(t, cart(), automatic(), raise())
	r := w.policies()
	reconcilePolicy(t, r, "shop")
	for i := range 10 {
		change := judgedChange(fmt.Sprintf("old-%d", i), noon.Add(time.Duration(i)*time.Minute), 0.1)
		change.Namespace, change.Spec.Workload = "etl", nil
		if err := w.Create(t.Context(), change); err != nil {
			t.Fatal(err)
		}
	}
	w.clock.SetTime(noon.Add(15 * time.Minute))
	// The executor sees it by itself, before the status says so.
	if err := w.step(t, "change"); err != nil {
		t.Fatal(err)
	}
	if said := message(w.change(t, "change"), v1alpha1.ConditionComplete); !strings.Contains(said, "the last 10 changes won 1.00 of the predicted 5.00") {
		t.Errorf("the change says %q", said)
	}
	p := reconcilePolicy(t, r, "shop")
	if !meta.IsStatusConditionTrue(p.Status.Conditions, v1alpha1.ConditionPaused) || *p.Status.Succeeded != 10 || p.Status.RealizedWin.String() != "1" {
		t.Errorf("status: %+v", p.Status)
	}
	if got := strings.Join(w.emitted(), " "); got != "Suspended WonTooLittle" && got != "WonTooLittle Suspended" {
		t.Errorf("events: %s", got)
	}
}

func TestAPolicySaysWithWhichOneItConflicts(t *testing.T) {
	t.Parallel()
	older := automatic()
	older.Name, older.CreationTimestamp = "older", metav1.NewTime(noon.Add(-2*time.Hour))
	w := newWorld(t, cart(), automatic(), older)
	p := reconcilePolicy(t, w.policies(), "shop")
	c := meta.FindStatusCondition(p.Status.Conditions, v1alpha1.ConditionConflicted)
	if c == nil || c.Status != metav1.ConditionTrue || !strings.Contains(c.Message, "1 pods belong to RemediationPolicy older") {
		t.Errorf("Conflicted: %+v", c)
	}
	if p := reconcilePolicy(t, w.policies(), "older"); meta.IsStatusConditionTrue(p.Status.Conditions, v1alpha1.ConditionConflicted) {
		t.Error("the older one is in conflict, too")
	}
}

func TestAPolicySaysThatTheSwitchIsOff(t *testing.T) {
	t.Parallel()
	w := newWorld(t, automatic())
	w.label(t, "loadline-system", v1alpha1.RemediationOff)
	p := reconcilePolicy(t, w.policies(), "shop")
	c := meta.FindStatusCondition(p.Status.Conditions, v1alpha1.ConditionReady)
	if c == nil || c.Reason != v1alpha1.ReasonSuspended || !strings.Contains(c.Message, "namespace loadline-system has the label") {
		t.Errorf("Ready: %+v", c)
	}
}

func TestOldChangesAreDeleted(t *testing.T) {
	t.Parallel()
	objects := []client.Object{automatic(func(s *v1alpha1.RemediationPolicySpec) { s.History = new(int32(10)) })}
	for i := range 15 {
		objects = append(objects, judgedChange(fmt.Sprintf("old-%02d", i), noon.Add(-24*time.Hour+time.Duration(i)*time.Minute), 0.5))
	}
	w := newWorld(t, objects...)
	r := w.policies()
	reconcilePolicy(t, r, "shop")
	var left v1alpha1.RemediationList
	if err := w.List(t.Context(), &left); err != nil {
		t.Fatal(err)
	}
	if len(left.Items) != 10 || left.Items[0].Name != "old-05" {
		t.Errorf("%d are left, the first %s", len(left.Items), left.Items[0].Name)
	}
}

func TestTheChangesOfAPolicyThatIsGoneAreDeletedOnceTheyDoNotCount(t *testing.T) {
	t.Parallel()
	w := newWorld(t, judgedChange("old", noon.Add(-2*time.Hour), 0.5), judgedChange("recent", noon.Add(-time.Minute), 0.5))
	for later, want := range []int{1, 0} {
		w.clock.SetTime(noon.Add(time.Duration(later) * time.Hour))
		if _, err := w.policies().Reconcile(t.Context(), reconcile.Request{NamespacedName: types.NamespacedName{Name: "shop"}}); err != nil {
			t.Fatal(err)
		}
		var left v1alpha1.RemediationList
		if err := w.List(t.Context(), &left); err != nil {
			t.Fatal(err)
		}
		if len(left.Items) != want {
			t.Errorf("%d hours later %d are left, want %d", later, len(left.Items), want)
		}
	}
}

func TestMetricsCountWhatBecomesOfChanges(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	m := NewMetrics(registry)
	w := newWorld(t, cart(), automatic(), move())
	w.Metrics = m
	w.run(t)
	r := w.policies()
	reconcilePolicy(t, r, "shop")
	for outcome, want := range map[string]float64{outcomeProposed: 1, outcomeStarted: 1, outcomeApplied: 1, outcomeSucceeded: 1, outcomeFailed: 0, outcomeDropped: 0} {
		if got := testutil.ToFloat64(m.changes.WithLabelValues(v1alpha1.ActionMove, outcome)); got != want {
			t.Errorf("%v changes %s, want %v", got, outcome, want)
		}
	}
	want := `
# HELP loadline_remediation_policy_win_predicted What the judged changes of a RemediationPolicy were predicted to win in all, in dilations of pods, as far as its Remediations are kept.
# TYPE loadline_remediation_policy_win_predicted gauge
loadline_remediation_policy_win_predicted{policy="shop"} 0.5
# HELP loadline_remediation_policy_win_realized What they won.
# TYPE loadline_remediation_policy_win_realized gauge
loadline_remediation_policy_win_realized{policy="shop"} 0.5
`
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want), "loadline_remediation_policy_win_predicted", "loadline_remediation_policy_win_realized"); err != nil {
		t.Error(err)
	}
	if err := w.Delete(t.Context(), automatic()); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: types.NamespacedName{Name: "shop"}}); err != nil {
		t.Fatal(err)
	}
	if n := testutil.CollectAndCount(m.realized); n != 0 {
		t.Errorf("%d metrics of a policy that is gone are left", n)
	}
}

func TestTheAPIServerIsAskedWhetherPodsCanBeResized(t *testing.T) {
	t.Parallel()
	var resources []string
	asked, fault := 0, errors.New("the server is away")
	clock := testingclock.NewFakePassiveClock(noon)
	r := &resizable{clock: clock, asks: func(string) (*metav1.APIResourceList, error) {
		asked++
		list := &metav1.APIResourceList{}
		for _, name := range resources {
			list.APIResources = append(list.APIResources, metav1.APIResource{Name: name})
		}
		return list, fault
	}}
	expect := func(when string, is bool, failed bool, times int) {
		t.Helper()
		if got, err := r.ask(t.Context()); got != is || (err != nil) != failed || asked != times {
			t.Errorf("%s: %v and %v after %d questions, want %v after %d", when, got, err, asked, is, times)
		}
	}
	expect("while it is away", false, true, 1)
	fault, resources = nil, []string{"pods", "pods/eviction"}
	expect("of an old one", false, false, 2)
	expect("of an old one, soon after", false, false, 2)
	resources = append(resources, "pods/resize")
	clock.SetTime(noon.Add(time.Hour))
	expect("once it is upgraded", true, false, 3)
	clock.SetTime(noon.Add(24 * time.Hour))
	expect("later", true, false, 3)
}
