package observations

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"loadline.dev/loadline/pkg/evaluate/observed"
	"loadline.dev/loadline/pkg/gauge/usage"
	"loadline.dev/loadline/pkg/profile"
)

// Prediction is the dilation of a pod as the model has it and as it was observed.
type Prediction struct {
	// Profile is the one that the pod follows.
	Profile types.NamespacedName
	// Predicted and Observed are at least 1.
	Predicted, Observed float64
}

// Error returns by which part the prediction is too high, below 0 if it is too low.
func (p *Prediction) Error() float64 { return p.Predicted/p.Observed - 1 }

// Predictions returns how the model of a node has its pods fare, given the vectors that were observed of them, and how they
// did in the same intervals: of each pod that follows a profile with a vector, and that was observed for long enough. So
// it is about the model, whatever a profile says. Pods are those of the node; the intervals must be valid and have ended just
// now. The error says that the model has no answer for the node.
func Predictions(node *corev1.Node, pods []corev1.Pod, intervals []usage.Interval, snapshot *profile.Snapshot) ([]Prediction, error) {
	c := observed.Observe(&observed.Input{
		Nodes: []corev1.Node{*node}, Pods: pods,
		Sights: []observed.Sight{{Node: node.Name, Intervals: intervals}},
	}, observed.DefaultAbove)
	c.SolveAll()
	class := snapshot.NodeClass(node).Class()
	var predictions []Prediction
	for _, p := range c.Nodes[0].Pods {
		w := snapshot.Workload(p.Object)
		if w == nil || w.On(class) == nil || p.Short() || p.Index < 0 || p.Node.Prediction == nil {
			continue
		}
		predicted, err := p.Predicted()
		if err != nil {
			return nil, fmt.Errorf("predicting the dilation of pod %s: %w", p.Name(), err)
		}
		predictions = append(predictions, Prediction{
			Profile: types.NamespacedName{Namespace: w.Namespace, Name: w.Name}, Predicted: predicted, Observed: p.Dilation,
		})
	}
	return predictions, nil
}
