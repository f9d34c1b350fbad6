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
// it is about the model, whatever a profile says. Where the class of the node says how many requests its disk serves at once, the disk is
// part of the model; elsewhere what pods were observed to wait there is added. Pods are those of the node; the intervals must be valid and
// have ended just now. The error says that the model has no answer for the node.
func Predictions(node *corev1.Node, pods []corev1.Pod, intervals []usage.Interval, snapshot *profile.Snapshot) ([]Prediction, error) {
	c := observed.Observe(&observed.Input{
		Nodes: []corev1.Node{*node}, Pods: pods,
		Sights: []observed.Sight{{Node: node.Name, Intervals: intervals}},
	}, observed.DefaultAbove)
	c.SolveAll()
	n, class := c.Nodes[0], snapshot.NodeClass(node)
	predicted, err := predictor(n, class)
	if err != nil {
		return nil, fmt.Errorf("predicting dilations: %w", err)
	}
	var predictions []Prediction
	for _, p := range n.Pods {
		w := snapshot.Workload(p.Object)
		if w == nil || w.On(class.Class()) == nil || p.Short() {
			continue
		}
		dilation, is, err := predicted(p)
		if err != nil {
			return nil, fmt.Errorf("predicting the dilation of pod %s: %w", p.Name(), err)
		}
		if is {
			predictions = append(predictions, Prediction{
				Profile: types.NamespacedName{Namespace: w.Namespace, Name: w.Name}, Predicted: dilation, Observed: p.Dilation,
			})
		}
	}
	return predictions, nil
}

// predictor returns what predicts the dilation of a pod of a node of a class, nil for none, and reports whether it is in the model.
func predictor(n *observed.Node, class *profile.NodeClass) (func(*observed.Pod) (float64, bool, error), error) {
	if class != nil && class.Servers[disk] > 0 {
		at, served, err := n.AtDisk(class.Servers[disk])
		if err != nil {
			return nil, err
		}
		if served {
			return at.Predicted, nil
		}
	}
	return func(p *observed.Pod) (float64, bool, error) {
		if p.Index < 0 || p.Node.Prediction == nil {
			return 0, false, nil
		}
		dilation, err := p.Predicted()
		return dilation, true, err
	}, nil
}
