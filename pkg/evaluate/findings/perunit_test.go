package findings_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
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
	if len(a.Findings) != 2 || a.Findings[0].Pod.Pod != "shop/api" || a.Findings[0].Remedy.Problem == "" || a.Findings[1].Pod.Pod != "shop/batch" || a.Nodes[0].Slowed != 2 {
		t.Fatalf("%+v", a.Findings)
	}
	if u := a.Findings[0].PerUnit; math.Abs(u.Waiting-2) > 1e-9 || math.Abs(u.Dilation-2.2) > 1e-9 || a.Findings[0].Felt() != u.Dilation {
		t.Errorf("%+v", u)
	}
	if a.Findings[1].PerUnit != nil || a.Findings[1].Felt() != 1.5 || a.Pods[2].PerUnit == nil || a.Pods[3].PerUnit != nil || a.Pods[4].PerUnit != nil {
		t.Errorf("%+v", a.Pods)
	}
}

// A group is as slow as the pod of it that is worst off as its users feel it, and its worst dilation may be that of another pod.
func TestAGroupHasTheUnitsOfThePodThatIsWorstOff(t *testing.T) {
	t.Parallel()
	of := func(pod, workload string, dilation float64, u *findings.PerUnit) findings.Finding {
		return findings.Finding{Pod: findings.Pod{Pod: "shop/" + pod, Workload: workload, Dilation: dilation, PerUnit: u}}
	}
	a := &findings.Answer{Findings: []findings.Finding{
		of("api-a", "api", 1.02, &findings.PerUnit{Unit: "request", Dilation: 2.5}), of("api-b", "api", 1.4, &findings.PerUnit{Unit: "request", Dilation: 1.5}),
		of("batch", "batch", 1.8, nil),
	}}
	groups := a.ByWorkload()
	if len(groups) != 2 || groups[0].Workload != "api" || groups[0].Of != "shop/api-a" || groups[0].PerUnit.Dilation != 2.5 || groups[0].Felt() != 2.5 || groups[0].Worst != 1.4 {
		t.Errorf("%+v", groups)
	}
	if groups[1].PerUnit != nil || groups[1].Felt() != 1.8 {
		t.Errorf("%+v", groups[1])
	}
}

func TestSlowerServiceNamesNoWorkloadThatAReaderMayNotSee(t *testing.T) {
	t.Parallel()
	u := &findings.PerUnit{Unit: "request", Dilation: 1.3, Beside: []string{"StatefulSet ml/train", "Deployment shop/batch", "Job etl/sort"}}
	pod := findings.Pod{Pod: "shop/api", PerUnit: u}
	a := (&findings.Answer{Pods: []findings.Pod{pod}, Findings: []findings.Finding{{Pod: pod}}}).VisibleTo(ofShop{})
	want := &findings.PerUnit{Unit: "request", Dilation: 1.3, Beside: []string{findings.HiddenPod, "Deployment shop/batch"}}
	for of, got := range map[string]*findings.PerUnit{"pod": a.Pods[0].PerUnit, "finding": a.Findings[0].PerUnit} {
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", of, diff)
		}
	}
	if u.Beside[0] != "StatefulSet ml/train" {
		t.Errorf("the answer itself was changed: %q", u.Beside)
	}
}
