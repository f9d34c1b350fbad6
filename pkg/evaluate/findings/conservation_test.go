package findings

import (
	"math"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"loadline.dev/loadline/pkg/gauge/usage"
	"loadline.dev/loadline/pkg/node"
)

// Of each second that a thread waits, something has its processor: another pod, the node itself, or the hypervisor. Whatever they run
// besides, no bound is above the seconds that the thread waited for one of them.
func TestNoBoundIsAboveWhatAPodWaitedFor(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		const seconds = 60
		amount := rapid.OneOf(rapid.Just(0.0), rapid.Float64Range(0, 5), rapid.Float64Range(0, 60))
		n := &observedNode{seconds: seconds, model: &node.Node{}}
		victim := &resident{observation: &observation{seconds: seconds, threads: 1}, node: n}
		n.pods = append(n.pods, victim)
		n.model.Pods = append(n.model.Pods, node.Pod{Pod: &corev1.Pod{}})
		waitedFor := func(what string) (waited, ran float64) {
			waited = amount.Draw(t, "waited for "+what)
			return waited, waited + amount.Draw(t, what+" besides")
		}
		var truth []float64
		all := 0.0
		for range rapid.IntRange(0, 4).Draw(t, "neighbours") {
			waited, ran := waitedFor("a neighbour")
			n.pods = append(n.pods, &resident{observation: &observation{seconds: seconds, threads: 1, times: usage.Times{Run: ran}}, node: n, index: len(n.model.Pods)})
			n.model.Pods = append(n.model.Pods, node.Pod{Pod: &corev1.Pod{}})
			truth = append(truth, waited)
			all += waited
		}
		ofSystem, system := waitedFor("the node")
		ofHypervisor, stolen := waitedFor("the hypervisor")
		all += ofSystem + ofHypervisor
		n.system, n.stolen = system, stolen
		victim.times.Wait = all
		victim.dilation = 1 + all/rapid.Float64Range(1, 100).Draw(t, "alone")

		least := victim.least(victim.waited())
		perSecond := 0.0
		if all > 0 {
			perSecond = victim.waited() / all
		}
		within := 1e-9 * (1 + victim.dilation)
		if least.system > ofSystem*perSecond+within || least.itself != 0 {
			t.Fatalf("of the node at least %v, and %v in truth; of itself %v", least.system, ofSystem*perSecond, least.itself)
		}
		for i, waited := range truth {
			if least.by[1+i] > waited*perSecond+within {
				t.Fatalf("of neighbour %d at least %v, and %v in truth", i, least.by[1+i], waited*perSecond)
			}
		}
		if len(truth) == 0 && stolen == 0 && math.Abs(least.system-victim.waited()) > within {
			t.Fatalf("with the node alone at least %v, want all %v", least.system, victim.waited())
		}
	})
}

func TestPartsAreRaisedWithinABound(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.OneOf(rapid.Just(0.0), rapid.Float64Range(0, 3))
		draw := func(label string) *waiting {
			return &waiting{itself: part.Draw(t, label), system: part.Draw(t, label), by: []float64{part.Draw(t, label), part.Draw(t, label)}}
		}
		w, least := draw("explained"), draw("at least")
		bound := max(w.total(), least.total()) + part.Draw(t, "not explained")
		before := w.total()
		w.raise(least, bound)
		const rounding = 1e-9
		if w.total() > bound+rounding || w.total() < min(before, bound)-rounding {
			t.Fatalf("%v became %v of at most %v", before, w.total(), bound)
		}
		for i, part := range append([]float64{w.itself, w.system}, w.by...) {
			if least := append([]float64{least.itself, least.system}, least.by...)[i]; part < least-rounding {
				t.Fatalf("part %d is %v, and at least %v", i, part, least)
			}
		}
	})
}
