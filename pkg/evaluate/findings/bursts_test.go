package findings_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"loadline.dev/loadline/pkg/evaluate/observed"
	"loadline.dev/loadline/pkg/gauge/usage"
)

func TestABurstIsTheMeanOverTheTimeThatAPodRan(t *testing.T) {
	t.Parallel()
	busy, idle := seen("web", 0.6, 0, 0), seen("web", 0.2, 0, 0)
	busy.BurstSeconds, idle.BurstSeconds = 0.05, 0.01
	s := sight("worker-1", 1, 0, busy)
	for i := range 3 {
		s.Intervals[i].Pods = []usage.Pod{idle}
	}
	p := of(t, &observed.Input{
		Nodes: []corev1.Node{nodeNamed("worker-1", "1")}, Pods: []corev1.Pod{pod("web", "worker-1", "100m", "")}, Sights: []observed.Sight{s},
	}).Pods[0]
	near(t, "burst", p.BurstSeconds, 0.75*0.05+0.25*0.01, 1e-9)
}

// Exponential bursts of 60 ms would often exceed a quota of 70 ms; these did not.
func TestALimitThatHeldNothingBackIsPredictedNotTo(t *testing.T) {
	t.Parallel()
	steady := seen("web", 0.2, 0, 0)
	steady.BurstSeconds = 0.06
	p := of(t, &observed.Input{
		Nodes: []corev1.Node{nodeNamed("worker-1", "4")}, Pods: []corev1.Pod{pod("web", "worker-1", "100m", "700m")},
		Sights: []observed.Sight{sight("worker-1", 4, 0, steady)},
	}).Pods[0]
	near(t, "burst", p.BurstSeconds, 0.06, 1e-9)
	if p.Predicted == nil || *p.Predicted > 1.021 {
		t.Errorf("the prediction is %v, want about 1", *p.Predicted)
	}
}
