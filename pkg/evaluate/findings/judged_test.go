package findings_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"loadline.dev/loadline/pkg/evaluate/findings"
	"loadline.dev/loadline/pkg/evaluate/observed"
	"loadline.dev/loadline/pkg/evaluate/plan"
	"loadline.dev/loadline/pkg/gauge/usage"
)

// A node on which every pod is slowed down is one whose gauge lies, or one where the worst come first.
func TestWhatHelpsIsLookedForOfTheWorstPodsOfANode(t *testing.T) {
	t.Parallel()
	const pods, treated = 25, 20
	in := &observed.Input{Nodes: []corev1.Node{nodeNamed("worker-1", "1")}}
	var all []usage.Pod
	for k := range pods {
		name := fmt.Sprintf("pod-%02d", k)
		in.Pods = append(in.Pods, pod(name, "worker-1", "10m", ""))
		all = append(all, seen(name, 0.5, 0.8-0.01*float64(k), 0))
	}
	in.Sights = []observed.Sight{sight("worker-1", 1, 0, all...)}
	answer, err := findings.Find(in, &plan.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(answer.Findings) != pods {
		t.Fatalf("%d findings about %d pods", len(answer.Findings), pods)
	}
	const want = "20 pods of its node are slowed down more: see what helps them first"
	for k, f := range answer.Findings {
		if f.Pod.Pod != fmt.Sprintf("shop/pod-%02d", k) {
			t.Errorf("finding %d is about %s: the worst come first", k, f.Pod.Pod)
		}
		if k >= treated && (f.Remedy.Action != findings.Leave || f.Remedy.Problem != want || f.Remedy.Dilation != f.Dilation) {
			t.Errorf("of %s the remedy is %+v", f.Pod.Pod, f.Remedy)
		}
		if k < treated && f.Remedy.Problem != "" {
			t.Errorf("of %s there is the problem %q", f.Pod.Pod, f.Remedy.Problem)
		}
	}
}

// A pod that waits a lot in one interval and not at all in the next is no finding, and is not passed over in silence.
func TestADilationThatDiffersTooMuchIsNoFinding(t *testing.T) {
	t.Parallel()
	s := sight("worker-1", 1, 0, seen("a", 0.5, 0.6, 0), seen("b", 0.5, 0.6, 0))
	for i := range s.Intervals {
		if i%2 == 0 {
			s.Intervals[i].Pods = []usage.Pod{seen("a", 0.5, 0, 0), seen("b", 0.5, 0.6, 0)}
		}
	}
	in := &observed.Input{
		Nodes: []corev1.Node{nodeNamed("worker-1", "1")}, Pods: []corev1.Pod{pod("a", "worker-1", "10m", ""), pod("b", "worker-1", "10m", "")},
		Sights: []observed.Sight{s},
	}
	answer, err := findings.Find(in, &plan.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range []*findings.Answer{answer, answer.In([]string{"shop"}, nil)} {
		if len(a.Findings) != 1 || a.Findings[0].Pod.Pod != "shop/b" || a.Unsure != 1 || a.Short != 0 {
			t.Errorf("there are %d findings, %d pods are unsure and %d short: %+v", len(a.Findings), a.Unsure, a.Short, a.Pods)
		}
	}
	if n := answer.In([]string{"bank"}, nil).Unsure; n != 0 {
		t.Errorf("%d pods of another namespace are unsure", n)
	}
}
