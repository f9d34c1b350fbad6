package findings_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"loadline.dev/loadline/pkg/evaluate/findings"
	"loadline.dev/loadline/pkg/evaluate/observed"
	"loadline.dev/loadline/pkg/evaluate/plan"
	"loadline.dev/loadline/pkg/node"
)

// anywhere lets every pod run on every node.
type anywhere struct{}

func (anywhere) Of(*corev1.Pod) func(string) node.Fit {
	return func(string) node.Fit { return node.Fit{} }
}

func (a anywhere) With(*corev1.Pod, string) node.Feasibility { return a }

// A pod waits, for longer than the model would have it or not, beside one that always runs and what runs in no pod. Another node does
// nothing: to move one of both there helps, whatever of the waiting is not clear.
func TestWithANodeThatIsIdleThereIsARemedy(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		cpus := rapid.IntRange(1, 4).Draw(t, "cpus")
		dilation := rapid.SampledFrom([]float64{1.25, 1.5, 2, 3, 5}).Draw(t, "dilation")
		system := rapid.SampledFrom([]float64{0, 0.05, 0.3}).Draw(t, "outside of pods")
		victim := seen("victim", rapid.SampledFrom([]float64{0.1, 0.25, 0.5, 0.8}).Draw(t, "loading"), 1-1/dilation, 0)
		hog := seen("hog", 1, 0, 0)
		hog.Run = min(10, 10*(float64(cpus)-system)-victim.Run)
		hog.Wait, hog.Dilation = 10-hog.Run, 10/hog.Run
		here := sight("worker-1", cpus, 0, victim, hog)
		for i := range here.Intervals {
			here.Intervals[i].BusySeconds += 10 * system
		}
		object := pod("victim", "worker-1", rapid.SampledFrom([]string{"1m", "50m", "500m"}).Draw(t, "request"), "")
		want := findings.MovePod
		if rapid.Bool().Draw(t, "its node's own") {
			object.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "DaemonSet", Name: "victim", Controller: new(true)}}
			want = findings.MoveNeighbour
		}
		answer, err := findings.Find(&observed.Input{
			Nodes:  []corev1.Node{nodeNamed("worker-1", fmt.Sprint(cpus)), nodeNamed("worker-2", fmt.Sprint(cpus))},
			Pods:   []corev1.Pod{object, pod("hog", "worker-1", "100m", "")},
			Sights: []observed.Sight{here, sight("worker-2", cpus, 0)},
		}, &plan.Options{Feasibility: anywhere{}})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range answer.Findings {
			if r := f.Remedy; f.Pod.Pod == "shop/victim" && (r.Action == findings.Leave || r.Action == want && want == findings.MovePod && r.Dilation > 1.001) {
				t.Fatalf("%v because of %+v: %+v", f.Dilation, f.Causes, r)
			}
		}
	})
}
