package scheduling

import (
	"context"
	"fmt"
	"iter"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	"loadline.dev/loadline/pkg/feasibility"
)

// Filter returns the filter of a cluster with all its nodes and pods, for questions about some of the pods. It lists the other
// objects that these need. What depends on objects that may not be listed is then unknown.
func (l *Lister) Filter(ctx context.Context, nodes []corev1.Node, pods []corev1.Pod, asked iter.Seq[*corev1.Pod]) (*feasibility.Filter, error) {
	const what = "what the scheduler's filters look at"
	cluster := &feasibility.Cluster{Nodes: nodes, Pods: pods}
	for _, list := range feasibility.Needed(asked, pods) {
		if err := l.list(ctx, list, what, "where pods may go that depend on them is not known"); err != nil {
			return nil, err
		}
		objects, err := meta.ExtractList(list)
		if err != nil {
			return nil, fmt.Errorf("listing %s: %w", what, err)
		}
		cluster.Others = append(cluster.Others, objects...)
	}
	return feasibility.New(cluster)
}
