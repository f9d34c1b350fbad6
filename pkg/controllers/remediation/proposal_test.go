package remediation

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/remediations"
)

// approved has a person decide on a change.
func approved(decision string) func(*v1alpha1.Remediation) {
	return func(r *v1alpha1.Remediation) {
		r.Spec.Approval = &v1alpha1.RemediationApproval{Decision: decision, By: "alice"}
	}
}

func mode(m string) func(*v1alpha1.RemediationPolicySpec) {
	return func(s *v1alpha1.RemediationPolicySpec) { s.Mode = m }
}

// permission refuses changes.
type permission struct{ refusal string }

func (p permission) Refusal(context.Context, *remediations.Policy, *v1alpha1.Remediation, *corev1.Pod) (string, error) {
	return p.refusal, nil
}

func TestAChangeIsStartedOnlyWhereItMayBe(t *testing.T) {
	t.Parallel()
	older := automatic(func(s *v1alpha1.RemediationPolicySpec) {
		s.PodSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "cart"}}
	})
	older.Name, older.CreationTimestamp = "older", metav1.NewTime(noon.Add(-2*time.Hour))
	advising := older.DeepCopy()
	advising.Spec.Mode = v1alpha1.RemediationAdvise
	for name, test := range map[string]struct {
		policy *v1alpha1.RemediationPolicy
		change *v1alpha1.Remediation
		before func(*world)
		more   []client.Object
		want   string // REASON: message of Complete; "" where it is started
		state  string // of the condition Approved
	}{
		"automatic":                 {automatic(), raise(), nil, nil, "", "True/Automatic"},
		"approved":                  {automatic(mode("Approve")), raise(approved("Approved")), nil, nil, "", "True/Approved"},
		"not approved":              {automatic(mode("Approve")), raise(), nil, nil, "AwaitingApproval: a person decides: kubectl patch remediation change --namespace shop --type merge", "False/AwaitingApproval"},
		"rejected":                  {automatic(mode("Approve")), raise(approved("Rejected")), nil, nil, "Rejected: rejected by alice", "False/Rejected"},
		"rejected though automatic": {automatic(), raise(approved("Rejected")), nil, nil, "Rejected: rejected by alice", "False/Rejected"},
		"advised":                   {automatic(mode("Advise")), raise(), nil, nil, "Advising: RemediationPolicy shop proposes changes, and makes none", ""},
		"advised though approved":   {automatic(mode("Advise")), raise(approved("Approved")), nil, nil, "Advising: RemediationPolicy shop proposes changes, and makes none", "True/Approved"},
		"of no mode":                {automatic(mode("")), raise(), nil, nil, "Advising: ", ""},
		"of no policy":              {older, raise(), nil, nil, "NotAllowed: there is no RemediationPolicy shop", ""},
		"of an invalid policy": {automatic(func(s *v1alpha1.RemediationPolicySpec) {
			s.PodSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Is"}}}
		}), raise(), nil, nil, "NotAllowed: RemediationPolicy shop is invalid", ""},
		"of a policy that is suspended": {automatic(func(s *v1alpha1.RemediationPolicySpec) { s.State = v1alpha1.PolicySuspended }), raise(), nil, nil, "Suspended: spec.state of RemediationPolicy shop is Suspended", "True/Automatic"},
		"not among those allowed":       {automatic(func(s *v1alpha1.RemediationPolicySpec) { s.Allow = []string{"Move"} }), raise(), nil, nil, "NotAllowed: spec.allow of RemediationPolicy shop does not list RaiseLimit", "True/Automatic"},
		"of a pod that is not chosen": {automatic(func(s *v1alpha1.RemediationPolicySpec) {
			s.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"team": "etl"}}
		}), raise(), nil, nil, "NotAllowed: RemediationPolicy shop does not choose the pod", "True/Automatic"},
		"of a pod that an older one has":   {automatic(), raise(), nil, []client.Object{older.DeepCopy()}, "NotAllowed: the pod belongs to RemediationPolicy older, which goes before shop", "True/Automatic"},
		"beside one that only advises":     {automatic(), raise(), nil, []client.Object{advising}, "", "True/Automatic"},
		"of a young pod":                   {automatic(func(s *v1alpha1.RemediationPolicySpec) { s.MinPodAgeSeconds = new(int32(7200)) }), raise(), nil, nil, "Queued: the pod has not been running for 2h0m0s", "True/Automatic"},
		"that waited too long":             {automatic(mode("Approve")), raise(func(r *v1alpha1.Remediation) { r.CreationTimestamp = metav1.NewTime(noon.Add(-time.Hour)) }), nil, nil, "Expired: not started within 1h0m0s", "False/AwaitingApproval"},
		"of a pod that moved meanwhile":    {automatic(), raise(func(r *v1alpha1.Remediation) { r.Spec.Pod.Node = "node-9" }), nil, nil, "Obsolete: the pod is on node node-1", "True/Automatic"},
		"of a container that is not there": {automatic(), raise(func(r *v1alpha1.Remediation) { r.Spec.Change.Container = "db" }), nil, nil, "Obsolete: container db has no such container", "True/Automatic"},
		"that the API server cannot make":  {automatic(), raise(), func(w *world) { w.Resizable = func(context.Context) (bool, error) { return false, nil } }, nil, "Failed: the API server cannot resize pods (it has no pods/resize)", "True/Automatic"},
		"that is not permitted":            {automatic(), raise(), func(w *world) { w.Permission = permission{"a VerticalPodAutoscaler resizes it"} }, nil, "NotAllowed: the pod is left as it is: a VerticalPodAutoscaler resizes it", "True/Automatic"},
		"that is permitted":                {automatic(), raise(), func(w *world) { w.Permission = permission{} }, nil, "", "True/Automatic"},
		"without a budget":                 {automatic(func(s *v1alpha1.RemediationPolicySpec) { s.Budget = &v1alpha1.RemediationBudget{AtOnce: new(int32(0))} }), raise(), nil, nil, "Queued: spec.budget.atOnce of RemediationPolicy shop is 0", "True/Automatic"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, append(test.more, cart(), test.policy, test.change)...)
			if test.before != nil {
				test.before(w)
			}
			for range 2 {
				if err := w.step(t, "change"); err != nil {
					t.Fatal(err)
				}
			}
			r := w.change(t, "change")
			if test.want == "" && !remediations.Started(r) || test.want != "" && (remediations.Started(r) || w.askedResizes > 0) {
				t.Errorf("started: %v", remediations.Started(r))
			}
			if got := remediations.Step(r) + ": " + message(r, v1alpha1.ConditionComplete); test.want != "" && !strings.HasPrefix(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
			if got := strings.Join(conditions(r), " "); test.state != "" && !strings.Contains(got, "Approved="+test.state) {
				t.Errorf("the conditions %s lack Approved=%s", got, test.state)
			}
		})
	}
}

// crowd is a cluster of n pods, each of a workload of its own and on a node of its own, with a
// change of each.
func crowd(n int) []client.Object {
	var all []client.Object
	for i := range n {
		pod := podOn(fmt.Sprintf("cart-%d", i), fmt.Sprintf("node-%d", i), noon.Add(-time.Hour))
		all = append(all, pod, raise(func(r *v1alpha1.Remediation) {
			r.Name, r.UID = fmt.Sprintf("change-%d", i), types.UID(fmt.Sprintf("uid-%d", i))
			r.Spec.Pod = v1alpha1.RemediationPod{Name: pod.Name, UID: string(pod.UID), Node: pod.Spec.NodeName}
			r.Spec.Workload = &v1alpha1.WorkloadReference{APIVersion: "apps/v1", Kind: "Deployment", Name: pod.Name}
		}))
	}
	return all
}

// running returns how many changes are running.
func (w *world) running(t *testing.T) int {
	t.Helper()
	var all v1alpha1.RemediationList
	if err := w.List(t.Context(), &all); err != nil {
		t.Fatal(err)
	}
	n := 0
	for i := range all.Items {
		if remediations.Running(&all.Items[i]) {
			n++
		}
	}
	return n
}

// The manager's cache may be behind: it shows no change that was started.
func TestBudgetsHoldThoughTheCacheIsBehind(t *testing.T) {
	t.Parallel()
	policy := automatic(func(s *v1alpha1.RemediationPolicySpec) {
		s.Budget = &v1alpha1.RemediationBudget{AtOnce: new(int32(3)), PerNamespace: new(int32(100)), PerHour: new(int32(5))}
	})
	w := newWorld(t, append(crowd(12), policy)...)
	w.controllers = nil
	var old v1alpha1.RemediationList
	if err := w.List(t.Context(), &old); err != nil {
		t.Fatal(err)
	}
	w.Reconciler.Client = interceptor.NewClient(w.Reconciler.Client.(client.WithWatch), interceptor.Funcs{ //nolint:errcheck // it can watch
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			if changes, is := list.(*v1alpha1.RemediationList); is {
				old.DeepCopyInto(changes)
				return nil
			}
			return c.List(ctx, list, options...)
		},
	})
	most := 0
	for range 30 {
		for i := range 12 {
			if err := w.step(t, fmt.Sprintf("change-%d", i)); err != nil {
				t.Fatal(err)
			}
			most = max(most, w.running(t))
		}
	}
	if most != 3 {
		t.Errorf("%d changes were running at once, want 3", most)
	}
	started, hour := []time.Time(nil), 0
	for i := range 12 {
		if when := w.change(t, fmt.Sprintf("change-%d", i)).Status.StartTime; when != nil {
			started = append(started, when.Time)
		}
	}
	for _, a := range started {
		n := 0
		for _, b := range started {
			if !b.Before(a) && b.Sub(a) < time.Hour {
				n++
			}
		}
		hour = max(hour, n)
	}
	if hour != 5 {
		t.Errorf("%d changes were started within an hour, want 5", hour)
	}
}

func TestOfTwoChangesOfAPodTheSecondWaitsAndIsObsoleteThen(t *testing.T) {
	t.Parallel()
	second := raise(func(r *v1alpha1.Remediation) { r.Name, r.UID = "second", "uid-second" })
	w := newWorld(t, cart(), automatic(func(s *v1alpha1.RemediationPolicySpec) {
		s.Budget = &v1alpha1.RemediationBudget{AtOnce: new(int32(9)), PerNode: new(int32(9)), PerWorkload: new(int32(9)), PerNamespace: new(int32(9))}
	}), raise(), second)
	w.until(t, "change", remediations.Started)
	if err := w.step(t, "second"); err != nil {
		t.Fatal(err)
	}
	if r := w.change(t, "second"); message(r, v1alpha1.ConditionComplete) != "Remediation change changes the same pod" {
		t.Errorf("the second: %+v", r.Status.Conditions)
	}
	w.run(t)
	if r := w.until(t, "second", remediations.Complete); remediations.Step(r) != v1alpha1.ReasonObsolete || w.resizes != 1 {
		t.Errorf("the second came to %s after %d resizes", remediations.Step(r), w.resizes)
	}
}

func TestADecisionOnAChangeThatIsStartedHasNoEffect(t *testing.T) {
	t.Parallel()
	w := newWorld(t, cart(), automatic(), raise())
	r := w.until(t, "change", func(r *v1alpha1.Remediation) bool { return remediations.Step(r) == v1alpha1.ReasonObserving })
	approved(v1alpha1.DecisionRejected)(r)
	if err := w.Update(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if got := remediations.Step(w.run(t)); got != v1alpha1.ReasonSucceeded {
		t.Errorf("it came to %s", got)
	}
}

func TestWithoutAJudgeWhatAChangeWonIsNeverKnown(t *testing.T) {
	t.Parallel()
	w := newWorld(t, cart(), automatic(), raise())
	w.Reconciler.Judge = nil
	r := w.run(t)
	if said := message(r, v1alpha1.ConditionProven); remediations.Step(r) != v1alpha1.ReasonUnproven || said != "the manager does not ask what gauges observe" {
		t.Errorf("it came to %s: %s", remediations.Step(r), said)
	}
}
