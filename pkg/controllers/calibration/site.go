package calibration

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/controllers/probejob"
	"loadline.dev/loadline/pkg/profile"
)

// maxLooks is on how many nodes the controller looks at once for pods.
const maxLooks = 20

// followers returns those of some nodes that follow a profile.
func followers(name string, profiles []v1alpha1.NodeProfile, nodes []corev1.Node) []corev1.Node {
	var classes []*profile.NodeClass
	for i := range profiles {
		if class, errs := profile.NewNodeClass(&profiles[i]); len(errs) == 0 {
			classes = append(classes, class)
		}
	}
	ranking := profile.NewRanking(classes)
	return slices.DeleteFunc(slices.Clone(nodes), func(n corev1.Node) bool {
		class, ok := ranking.Winner(labels.Set(n.Labels))
		return !ok || class.Name != name
	})
}

// candidates returns the nodes of a class on which a calibration may begin as far as
// the nodes themselves go, the best first, and why there are none.
func (in *input) candidates(class []corev1.Node, free func(node string) bool) ([]string, problem) {
	if len(class) == 0 {
		return nil, problem{v1alpha1.ReasonNoNode, "no node follows this profile"}
	}
	var usable, unusable []string
	for i := range class {
		if ok, why := probejob.Usable(&class[i]); ok {
			usable = append(usable, class[i].Name)
		} else {
			unusable = append(unusable, fmt.Sprintf("node %s: %s", class[i].Name, why))
		}
	}
	if len(usable) == 0 {
		return nil, problem{v1alpha1.ReasonNoNode, "no node that follows this profile takes pods that tolerate no taints: " + probejob.Some(unusable, ", ")}
	}
	usable = slices.DeleteFunc(usable, func(node string) bool { return !free(node) })
	if len(usable) == 0 {
		return nil, queued()
	}
	in.rank(usable)
	return usable, problem{}
}

func queued() problem {
	return problem{v1alpha1.ReasonQueued, "other measurements use the nodes of this profile, or as many go on as may at once"}
}

// rank sorts nodes: those first where other resources were calibrated, so that all
// numbers are of one node, that one last where the last run was lost. The others
// take turns, so that all get looked at in time.
func (in *input) rank(nodes []string) {
	slices.Sort(nodes)
	copy(nodes, probejob.InTurn(nodes, maxLooks, in.now.Time, waitEvery))
	slices.SortStableFunc(nodes, func(a, b string) int { return cmp.Compare(in.distance(a), in.distance(b)) })
}

func (in *input) distance(node string) int {
	status := &in.profile.Status
	switch {
	case status.Calibrating != nil && attempts(status.Calibrating) > 1 && status.Calibrating.Node == node:
		return 2
	case slices.ContainsFunc(status.Resources, func(r v1alpha1.CalibratedResource) bool { return r.Node == node }):
		return 0
	default:
		return 1
	}
}
