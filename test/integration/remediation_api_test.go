package integration

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

func TestTheServerRefusesBadRemediationPolicies(t *testing.T) {
	t.Parallel()
	const header = "apiVersion: loadline.dev/v1alpha1\nkind: RemediationPolicy\nmetadata: {name: shop}"
	for name, test := range map[string]struct{ spec, want string }{
		"nothing but advice":      {"  {}", ""},
		"all that there can be":   {"  mode: Automatic\n  state: Suspended\n  namespaceSelector: {matchLabels: {a: b}}\n  podSelector: {}\n  criticalPods: Include\n  allow: [Move, RaiseLimit, RaiseRequest, LowerRequest]\n  above: 2\n  budget: {atOnce: 0, perNode: 1000}\n  coolDownSeconds: 0\n  minPodAgeSeconds: 0\n  observeSeconds: 30\n  proposalSeconds: 60\n  history: 10\n  singleReplicas: [{namespace: shop, kind: Deployment, name: cart}]", ""},
		"a mode that is none":     {"  mode: apply", `spec.mode: Unsupported value: "apply": supported values: "Advise", "Approve", "Automatic"`},
		"a change that is none":   {"  allow: [LowerLimit]", `spec.allow[0]: Unsupported value: "LowerLimit"`},
		"a change twice":          {"  allow: [Move, Move]", `spec.allow[1]: Duplicate value: "Move"`},
		"changes without a list":  {"  mode: Approve", "spec.allow: Required value: the modes Approve and Automatic change pods: list the changes that may be made, such as [RaiseLimit]"},
		"a dilation below 1":      {"  above: '0.9'", `spec.above: Invalid value: "0.9": a dilation is how many times as long a pod takes as alone: write a number from 1 to 1000`},
		"a dilation that is none": {"  above: NaN", `spec.above: Invalid value: "NaN": a dilation is how many times`},
		"a negative budget":       {"  budget: {perHour: -1}", "spec.budget.perHour: Invalid value: -1"},
		"an operator of no kind":  {"  podSelector: {matchExpressions: [{key: app, operator: Is}]}", "spec.podSelector: Invalid value: operator must be In, NotIn, Exists or DoesNotExist"},
		"observed for no time":    {"  observeSeconds: 0", "spec.observeSeconds: Invalid value: 0"},
		"observed for too long":   {"  observeSeconds: 2401", "spec.observeSeconds: Invalid value: 2401"},
		"a workload twice": {
			"  singleReplicas: [{namespace: a, kind: b, name: c}, {namespace: a, kind: b, name: c}]",
			"spec.singleReplicas[1]: Duplicate value",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, admit(t, header, test.spec), test.want)
		})
	}
}

func TestTheServerRefusesBadRemediations(t *testing.T) {
	t.Parallel()
	const header = "apiVersion: loadline.dev/v1alpha1\nkind: Remediation\nmetadata: {name: cart, namespace: default}"
	const (
		pod = "  policy: shop\n  pod: {name: cart, uid: 6b1f, node: node-1}\n"
		win = "  prediction: {win: '0.5', low: '-0.1', high: 1}\n"
	)
	change := func(c string) string { return pod + win + "  change: {" + c + "}" }
	for name, test := range map[string]struct{ spec, want string }{
		"a move":                      {change("action: Move, toNode: node-2"), ""},
		"a move to anywhere":          {change("action: Move"), ""},
		"a limit":                     {change("action: RaiseLimit, container: app, limit: {from: 300m, to: 1}"), ""},
		"a request with its limit":    {change("action: RaiseRequest, container: app, request: {from: 100m, to: '0.2'}, limit: {from: 100m, to: 200m}"), ""},
		"a request that is lowered":   {change("action: LowerRequest, container: app, request: {from: '0.2', to: 100m}"), ""},
		"an action that is none":      {change("action: Restart"), `spec.change.action: Unsupported value: "Restart"`},
		"a limit of no container":     {change("action: RaiseLimit, limit: {from: 300m, to: 1}"), "spec.change.container: Invalid value"},
		"a container that moves":      {change("action: Move, container: app"), "spec.change.container: Invalid value"},
		"a move with another limit":   {change("action: Move, limit: {from: 300m, to: 1}"), "spec.change.request: Invalid value: a pod that is moved keeps its requests and limits"},
		"a limit that goes to a node": {change("action: RaiseLimit, container: app, limit: {from: 300m, to: 1}, toNode: node-2"), "spec.change.toNode: Invalid value: only Move has a node to go to"},
		"no limit to raise":           {change("action: RaiseLimit, container: app, request: {from: 300m, to: 1}"), "spec.change.limit: Required value: RaiseLimit changes the CPU limit"},
		"no request to raise":         {change("action: RaiseRequest, container: app, limit: {from: 300m, to: 1}"), "spec.change.request: Required value: RaiseRequest and LowerRequest change the CPU request"},
		"a limit that is lowered":     {change("action: RaiseLimit, container: app, limit: {from: 1, to: 300m}"), "spec.change.limit: Invalid value: RaiseRequest and RaiseLimit go from a smaller amount to a larger one"},
		"a request that is raised":    {change("action: LowerRequest, container: app, request: {from: 300m, to: 1}"), "spec.change.request: Invalid value: RaiseRequest and RaiseLimit go"},
		"a limit that stays":          {change("action: RaiseLimit, container: app, limit: {from: 1, to: 1000m}"), "spec.change.limit: Invalid value"},
		"a limit of nothing":          {change("action: RaiseLimit, container: app, limit: {from: 0, to: 1}"), "spec.change.limit.from: Invalid value: 0: an amount of CPU is above 0 and at most 4096"},
		"a limit in gibibytes":        {change("action: RaiseLimit, container: app, limit: {from: 1, to: 2Gi}"), `spec.change.limit.to: Invalid value: "2Gi": an amount of CPU`},
		"a win that is none":          {pod + "  prediction: {win: much, low: 0, high: 1}\n  change: {action: Move}", `spec.prediction.win: Invalid value: "much": a win is a number in units of dilation`},
		"an interval upside down":     {pod + "  prediction: {win: 1, low: 2, high: 1}\n  change: {action: Move}", "spec.prediction.low: Invalid value: low is above high"},
		"a dilation below 1":          {pod + "  prediction: {win: 1, low: 0, high: 1, pods: [{namespace: a, name: b, now: 2, then: 500m}]}\n  change: {action: Move}", `spec.prediction.pods[0].then: Invalid value: "500m": a dilation is`},
		"no pod":                      {"  policy: shop\n" + win + "  change: {action: Move}", "spec.pod: Required value"},
		"an approval of no person":    {change("action: Move") + "\n  approval: {decision: Approved}", "spec.approval.by: Required value"},
		"a decision that is none":     {change("action: Move") + "\n  approval: {decision: Perhaps, by: a}", `spec.approval.decision: Unsupported value: "Perhaps"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, admit(t, header, test.spec), test.want)
		})
	}
}

// proposedMove is a Remediation as the manager makes one.
func proposedMove(namespace, name string) *v1alpha1.Remediation {
	return &v1alpha1.Remediation{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: v1alpha1.RemediationSpec{
			Policy: "shop", Pod: v1alpha1.RemediationPod{Name: "web", UID: "6b1f", Node: "node-1"},
			Change:     v1alpha1.RemediationChange{Action: v1alpha1.ActionMove, ToNode: "node-2"},
			Prediction: v1alpha1.RemediationPrediction{Win: new(resource.MustParse("0.5")), Low: new(resource.MustParse("0.4")), High: new(resource.MustParse("0.6"))},
		},
	}
}

func TestOnlyTheApprovalOfARemediationCanBeChanged(t *testing.T) {
	t.Parallel()
	p := shared.newPlace(t, 0)
	must(t, p.Create(t.Context(), proposedMove(p.namespace, "cart")))
	for name, test := range map[string]struct {
		change  func(*v1alpha1.RemediationSpec)
		refused bool
	}{
		"approved": {func(s *v1alpha1.RemediationSpec) {
			s.Approval = &v1alpha1.RemediationApproval{Decision: "Approved", By: "alice"}
		}, false},
		"to another node":   {func(s *v1alpha1.RemediationSpec) { s.Change.ToNode = "node-3" }, true},
		"to any node":       {func(s *v1alpha1.RemediationSpec) { s.Change.ToNode = "" }, true},
		"of another pod":    {func(s *v1alpha1.RemediationSpec) { s.Pod.Name = "db" }, true},
		"of another policy": {func(s *v1alpha1.RemediationSpec) { s.Policy = "etl" }, true},
		"of a workload": {func(s *v1alpha1.RemediationSpec) {
			s.Workload = &v1alpha1.WorkloadReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "cart"}
		}, true},
		"better predicted": {func(s *v1alpha1.RemediationSpec) {
			s.Prediction.Win = new(resource.MustParse("9"))
			s.Prediction.High = new(resource.MustParse("9"))
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var r v1alpha1.Remediation
			must(t, p.Get(t.Context(), client.ObjectKey{Namespace: p.namespace, Name: "cart"}, &r))
			before := r.DeepCopy()
			test.change(&r.Spec)
			err := p.Patch(t.Context(), &r, client.MergeFrom(before), client.DryRunAll)
			if refused := err != nil && strings.Contains(err.Error(), "only the approval of a Remediation can be changed"); refused != test.refused {
				t.Errorf("the server says %v", err)
			}
		})
	}
}
