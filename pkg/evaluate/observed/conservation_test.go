package observed

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
		n := &Node{Seconds: seconds, Model: &node.Node{}}
		victim := &Pod{Observation: &Observation{Seconds: seconds, Threads: 1}, Node: n}
		n.Pods = append(n.Pods, victim)
		n.Model.Pods = append(n.Model.Pods, node.Pod{Pod: &corev1.Pod{}})
		waitedFor := func(what string) (waited, ran float64) {
			waited = amount.Draw(t, "waited for "+what)
			return waited, waited + amount.Draw(t, what+" besides")
		}
		var truth []float64
		all := 0.0
		for range rapid.IntRange(0, 4).Draw(t, "neighbours") {
			waited, ran := waitedFor("a neighbour")
			n.Pods = append(n.Pods, &Pod{Observation: &Observation{Seconds: seconds, Threads: 1, Times: usage.Times{Run: ran}}, Node: n, Index: len(n.Model.Pods)})
			n.Model.Pods = append(n.Model.Pods, node.Pod{Pod: &corev1.Pod{}})
			truth = append(truth, waited)
			all += waited
		}
		ofSystem, system := waitedFor("the node")
		ofHypervisor, stolen := waitedFor("the hypervisor")
		ofEnded, ended := waitedFor("pods that have ended")
		all += ofSystem + ofHypervisor + ofEnded
		n.system, n.Stolen, n.ended = system, stolen, ended
		victim.Times.Wait = all
		victim.Dilation = 1 + all/rapid.Float64Range(1, 100).Draw(t, "alone")

		least := victim.least(victim.Waited())
		perSecond := 0.0
		if all > 0 {
			perSecond = victim.Waited() / all
		}
		within := 1e-9 * (1 + victim.Dilation)
		if least.System > ofSystem*perSecond+within || least.Ended > ofEnded*perSecond+within || least.Itself != 0 {
			t.Fatalf("of the node at least %v, and %v in truth; of pods that have ended %v, and %v; of itself %v",
				least.System, ofSystem*perSecond, least.Ended, ofEnded*perSecond, least.Itself)
		}
		for i, waited := range truth {
			if least.By[1+i] > waited*perSecond+within {
				t.Fatalf("of neighbour %d at least %v, and %v in truth", i, least.By[1+i], waited*perSecond)
			}
		}
		if len(truth) == 0 && stolen == 0 && ended == 0 && math.Abs(least.System-victim.Waited()) > within {
			t.Fatalf("with the node alone at least %v, want all %v", least.System, victim.Waited())
		}
	})
}

func TestPartsAreRaisedWithinABound(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.OneOf(rapid.Just(0.0), rapid.Float64Range(0, 3))
		draw := func(label string) *Waiting {
			return &Waiting{Itself: part.Draw(t, label), System: part.Draw(t, label), By: []float64{part.Draw(t, label), part.Draw(t, label)}}
		}
		w, least := draw("explained"), draw("at least")
		bound := max(w.Total(), least.Total()) + part.Draw(t, "not explained")
		before := w.Total()
		w.raise(least, bound)
		const rounding = 1e-9
		if w.Total() > bound+rounding || w.Total() < min(before, bound)-rounding {
			t.Fatalf("%v became %v of at most %v", before, w.Total(), bound)
		}
		for i, part := range append([]float64{w.Itself, w.System}, w.By...) {
			if least := append([]float64{least.Itself, least.System}, least.By...)[i]; part < least-rounding {
				t.Fatalf("part %d is %v, and at least %v", i, part, least)
			}
		}
	})
}
