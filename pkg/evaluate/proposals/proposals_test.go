package proposals

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/observed"
	"loadline.dev/loadline/pkg/evaluate/plan"
	"loadline.dev/loadline/pkg/evaluate/remediations"
	"loadline.dev/loadline/pkg/node"
)

func amount(text string) *resource.Quantity { return new(resource.MustParse(text)) }

// limitRaised is a change of a container's limit, of a Remediation that is complete with an outcome or open with "".
func limitRaised(outcome string) *v1alpha1.Remediation {
	r := &v1alpha1.Remediation{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "change"},
		Spec: v1alpha1.RemediationSpec{
			Policy: "all", Pod: v1alpha1.RemediationPod{Name: "cart-1", UID: "uid-1", Node: "worker-1"},
			Workload: &v1alpha1.WorkloadReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "cart"},
			Change:   v1alpha1.RemediationChange{Action: v1alpha1.ActionRaiseLimit, Container: "main", Limit: &v1alpha1.CPUChange{From: amount("300m"), To: amount("1")}},
			Prediction: v1alpha1.RemediationPrediction{Win: remediations.Quantity(2), Pods: []v1alpha1.PredictedPod{
				{Namespace: "shop", Name: "cart-1", Now: amount("3"), Then: amount("1")}, {Namespace: "etl", Name: "sort", Now: amount("1"), Then: amount("1.5")},
			}},
		},
	}
	if outcome != "" {
		r.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionComplete, Status: metav1.ConditionTrue, Reason: outcome}}
	}
	return r
}

// moved is a move that was made.
func moved() *v1alpha1.Remediation {
	r := limitRaised(v1alpha1.ReasonSucceeded)
	r.Spec.Change = v1alpha1.RemediationChange{Action: v1alpha1.ActionMove, ToNode: "worker-2"}
	r.Status.Replacement = &v1alpha1.RemediationPod{Name: "cart-2", UID: "uid-2", Node: "worker-3"}
	return r
}

func TestAChangeIsTheSameAsInAPlan(t *testing.T) {
	t.Parallel()
	want := plan.Change{
		Action: plan.RaiseLimit, Pod: "shop/cart-1", Workload: "Deployment shop/cart", Node: "worker-1", Container: "main", Limit: amount("1"), WasLimit: amount("300m"),
	}
	if diff := cmp.Diff(&want, Change(limitRaised(""))); diff != "" {
		t.Error(diff)
	}
	want = plan.Change{Action: plan.MovePod, Pod: "shop/cart-1", Workload: "Deployment shop/cart", Node: "worker-1", To: "worker-2"}
	if diff := cmp.Diff(&want, Change(moved())); diff != "" {
		t.Error(diff)
	}
	if was, is := Now(limitRaised("")), Now(moved()); was != "shop/cart-1" || is != "shop/cart-2" {
		t.Errorf("the pods are since %s and %s", was, is)
	}
	alone := limitRaised("")
	alone.Spec.Workload, alone.Spec.Change = nil, v1alpha1.RemediationChange{Action: v1alpha1.ActionLowerRequest, Request: &v1alpha1.CPUChange{From: amount("2"), To: amount("1")}}
	if c := Change(alone); c.Workload != "Pod shop/cart-1" || c.Action != plan.LowerRequest || c.Request.String() != "1" || c.WasRequest.String() != "2" {
		t.Errorf("the change is %+v", c)
	}
}

// A pod is before a change what it was then.
func TestAPodIsBeforeAChangeWhatItWas(t *testing.T) {
	t.Parallel()
	since := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "cart-1", UID: "uid-1"},
		Spec: corev1.PodSpec{NodeName: "worker-1", Containers: []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: *amount("100m")}, Limits: corev1.ResourceList{corev1.ResourceCPU: *amount("1")},
		}}}},
	}
	if was := Before(limitRaised(""), since); was.Spec.Containers[0].Resources.Limits.Cpu().String() != "300m" || was.Spec.Containers[0].Resources.Requests.Cpu().String() != "100m" {
		t.Errorf("it had %v", was.Spec.Containers[0].Resources)
	}
	anew := since.DeepCopy()
	anew.Name, anew.UID, anew.Spec.NodeName = "cart-2", "uid-2", "worker-3"
	if was := Before(moved(), anew); was.Name != "cart-1" || was.UID != "uid-1" || was.Spec.NodeName != "worker-1" || anew.Name != "cart-2" {
		t.Errorf("it was %s on %s", was.Name, was.Spec.NodeName)
	}
}

func TestNamesAreOfTheChange(t *testing.T) {
	t.Parallel()
	r := limitRaised("")
	first := name(r, nil)
	if !strings.HasPrefix(first, "cart-1-raise-limit-") || first != name(limitRaised(""), nil) {
		t.Errorf("the name is %s, and then %s", first, name(limitRaised(""), nil))
	}
	second := name(r, map[types.NamespacedName]bool{{Namespace: "shop", Name: first}: true})
	if second == first || second == name(r, map[types.NamespacedName]bool{{Namespace: "shop", Name: second}: true}) {
		t.Errorf("the name is %s though that is taken", second)
	}
	for what, change := range map[string]func(*v1alpha1.RemediationSpec){
		"another pod":       func(s *v1alpha1.RemediationSpec) { s.Pod.UID = "uid-9" },
		"another amount":    func(s *v1alpha1.RemediationSpec) { s.Change.Limit.To = amount("2") },
		"another container": func(s *v1alpha1.RemediationSpec) { s.Change.Container = "side" },
		"another node":      func(s *v1alpha1.RemediationSpec) { s.Change.ToNode = "worker-9" },
		"another policy":    func(s *v1alpha1.RemediationSpec) { s.Policy = "other" },
	} {
		other := limitRaised("")
		change(&other.Spec)
		if name(other, nil) == first {
			t.Errorf("%s has the same name", what)
		}
	}
	r.Spec.Pod.Name = strings.Repeat("a-", 126) + "a"
	if long := name(r, nil); len(long) > 253 || strings.Contains(long, "--") {
		t.Errorf("the name has %d characters: %s", len(long), long)
	}
}

func TestAPredictionNamesThePodItselfAndThoseOfWhichItChangesMost(t *testing.T) {
	t.Parallel()
	s := &plan.Step{Change: plan.Change{Pod: "shop/cart"}, Win: plan.Interval{Value: 0.844, Low: 0.6, High: 1}}
	for i := range 20 {
		s.Pods = append(s.Pods, plan.Effect{Pod: fmt.Sprintf("shop/pod-%02d", i), Now: 1.1, Then: 1.1 + float64(i)/10})
	}
	p := prediction(s, 1.3)
	if len(p.Pods) != mostPods || p.Win.String() != "840m" {
		t.Fatalf("%d pods, a win of %s", len(p.Pods), p.Win)
	}
	if own := p.Pods[0]; own.Name != "cart" || own.Now.String() != "1300m" || own.Then.String() != "1300m" {
		t.Errorf("of the pod itself is predicted %v", own)
	}
	lie := prediction(&plan.Step{Win: plan.Interval{Value: 1e15, Low: -1e15, High: 1e18}}, 1e12)
	if lie.Win.String() != "999999" || lie.Low.String() != "-999999" || lie.High.String() != "999999" || lie.Pods[0].Now.String() != "999999" {
		t.Errorf("predicted is %+v", lie)
	}
	if p.Pods[1].Name != "pod-19" || p.Pods[mostPods-1].Name != "pod-05" {
		t.Errorf("named are %s to %s", p.Pods[1].Name, p.Pods[mostPods-1].Name)
	}
}

func TestARecordIsOfCompleteChangesThatWereJudged(t *testing.T) {
	t.Parallel()
	judged := func(outcome string, ratio *resource.Quantity) v1alpha1.Remediation {
		r := limitRaised(outcome)
		r.Status.Realized = &v1alpha1.RealizedWin{Ratio: ratio}
		return *r
	}
	got := Record([]v1alpha1.Remediation{
		judged(v1alpha1.ReasonSucceeded, amount("0.5")), judged(v1alpha1.ReasonRolledBack, amount("-1")), judged(v1alpha1.ReasonSucceeded, amount("100")),
		judged("", amount("0.5")), judged(v1alpha1.ReasonSucceeded, nil), *limitRaised(v1alpha1.ReasonUnproven),
	})
	want := plan.Record{plan.RaiseLimit: {Changes: 3, Sum: 0.5 - 1 + largestRatio, Squares: 0.25 + 1 + largestRatio*largestRatio}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestCostsAreOfPodsThatPayClearlyMoreThanWasPredicted(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		effect plan.Effect
		margin float64
		want   string
	}{
		"as predicted":          {plan.Effect{Pod: "etl/sort", Now: 1, Then: 1.5}, 0.01, ""},
		"more":                  {plan.Effect{Pod: "etl/sort", Now: 1, Then: 1.8}, 0.01, "costs more than was predicted: the dilation of etl/sort is at 1.80 in place of 1.50"},
		"more by chance":        {plan.Effect{Pod: "etl/sort", Now: 1, Then: 1.8}, 0.2, ""},
		"one that is not named": {plan.Effect{Pod: "etl/other", Now: 1, Then: 1.3}, 0.01, "costs more than was predicted: the dilation of etl/other is at 1.30 in place of 1.00"},
		"below what counts":     {plan.Effect{Pod: "etl/other", Now: 1, Then: 1.19}, 0.01, ""},
		"one that was to win":   {plan.Effect{Pod: "shop/cart-1", Now: 3, Then: 3.01}, 0.01, ""},
	} {
		proof := &plan.Proof{Pods: []plan.Effect{test.effect}, Margins: map[string]float64{test.effect.Pod: test.margin}}
		if got := Costs(limitRaised(""), proof, 1.2); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
	var many plan.Proof
	for i := range 5 {
		many.Pods = append(many.Pods, plan.Effect{Pod: fmt.Sprintf("etl/pod-%d", i), Now: 1, Then: 2 + float64(i)})
	}
	if got := Costs(limitRaised(""), &many, 1.2); !strings.Contains(got, "etl/pod-4 is at 6.00") || !strings.HasSuffix(got, " and of 2 more pods") {
		t.Errorf("of many is said %q", got)
	}
}

// everywhere lets pods run on all nodes.
type everywhere struct{ node.Feasibility }

func (everywhere) Of(*corev1.Pod) func(string) node.Fit {
	return func(string) node.Fit { return node.Fit{} }
}

func (e everywhere) With(*corev1.Pod, string) node.Feasibility { return e }

func TestNoPodMovesToANodeWithAChange(t *testing.T) {
	t.Parallel()
	s := &spared{everywhere{}, sets.New("worker-1")}
	for _, f := range []node.Feasibility{s, s.With(&corev1.Pod{}, "worker-2")} {
		fit := f.Of(&corev1.Pod{})
		if fit("worker-1").Refused == "" || fit("worker-2").Refused != "" {
			t.Errorf("the verdicts are %v and %v", fit("worker-1"), fit("worker-2"))
		}
	}
}

// A change of a pod that has no CPU request, or has amounts as a whole, cannot be said.
func TestOnlyChangesThatTheAPICanSayArePermitted(t *testing.T) {
	t.Parallel()
	requesting := func(request string, limits corev1.ResourceList) *corev1.Pod {
		p := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main"}}}}
		p.Spec.Containers[0].Resources.Limits = limits
		if request != "" {
			p.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: *amount(request)}
		}
		return p
	}
	whole := requesting("1", nil)
	whole.Spec.Resources = &corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: *amount("2")}}
	for name, test := range map[string]struct {
		pod    *corev1.Pod
		action plan.Action
		want   bool
	}{
		"a request":                  {requesting("1", nil), plan.RaiseRequest, true},
		"no request":                 {requesting("", nil), plan.RaiseRequest, false},
		"a limit without a request":  {requesting("", corev1.ResourceList{corev1.ResourceCPU: *amount("1")}), plan.RaiseLimit, true},
		"amounts of the pod as such": {whole, plan.LowerRequest, false},
	} {
		if got := resizes(test.pod, test.action); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	p := &plan.Plan{Steps: []plan.Step{{Change: plan.Change{Action: plan.RaiseRequest, Pod: "shop/cart", Container: "main", Request: amount("1")}}}}
	pod := requesting("", nil)
	pod.Namespace, pod.Name = "shop", "cart"
	policy, errs := remediations.Compile(&v1alpha1.RemediationPolicy{})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	if of := New(&Input{Policies: []*remediations.Policy{policy}, Pods: []corev1.Pod{*pod}}).Of(p, &observed.Cluster{}); len(of.Made) > 0 {
		t.Errorf("proposed is %v", of.Made[0].Spec)
	}
}
