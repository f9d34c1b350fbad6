package findings_test

import (
	"math"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadline.dev/loadline/pkg/evaluate/findings"
	"loadline.dev/loadline/pkg/evaluate/inflations"
)

// A service that runs for 2 % of its time and waits as long is at 1.02 of its time and 2 of its requests, times the slower service.
func TestAServiceThatIsMostlyIdleIsFoundByWhatItsUsersFeel(t *testing.T) {
	t.Parallel()
	a := &findings.Answer{
		Above: 1.2,
		Pods: []findings.Pod{
			{Pod: "shop/api", Node: "node-1", Dilation: 1.02, CPUs: 0.02, Waiting: 0.015, Throttled: 0.005},
			{Pod: "shop/batch", Node: "node-1", Dilation: 1.5, CPUs: 1, Waiting: 0.5},
			{Pod: "shop/fine", Node: "node-1", Dilation: 1, CPUs: 1},
			{Pod: "shop/new", Node: "node-1", Dilation: 1, CPUs: 1, Waiting: 5, Short: true},
			{Pod: "shop/idle", Node: "node-1", Dilation: 1},
		},
		Nodes: []findings.NodeSummary{{Name: "node-1", Slowed: 1}},
	}
	a.Findings = []findings.Finding{{Pod: a.Pods[1]}}
	var pods []corev1.Pod
	for _, name := range []string{"api", "fine", "new", "idle"} {
		pods = append(pods, corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}})
	}
	a.Serve(pods, func(*corev1.Pod) *inflations.OfPod { return &inflations.OfPod{Unit: "request", Inflation: 1.1} })
	if len(a.Findings) != 2 || a.Findings[0].Pod.Pod != "shop/api" || a.Findings[1].Pod.Pod != "shop/batch" || a.Nodes[0].Slowed != 2 {
		t.Fatalf("%+v", a.Findings)
	}
	if u := a.Findings[0].PerUnit; math.Abs(u.Waiting-2) > 1e-9 || math.Abs(u.Dilation-2.2) > 1e-9 || a.Findings[0].Felt() != u.Dilation {
		t.Errorf("%+v", u)
	}
	if a.Findings[1].PerUnit != nil || a.Findings[1].Felt() != 1.5 || a.Pods[2].PerUnit == nil || a.Pods[3].PerUnit != nil || a.Pods[4].PerUnit != nil {
		t.Errorf("%+v", a.Pods)
	}
}
