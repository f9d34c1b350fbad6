// Package scheduling lists what kube-scheduler's filters look at in a cluster, for the verbs that say where pods may go.
package scheduling

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/pkg/cli/verb"
	"loadline.dev/loadline/pkg/feasibility"
)

// Filter returns the filter of a cluster with all its nodes and pods, for questions about some of the pods. It lists the other
// objects that these need. Objects that the user may not list are then unknown, and a warning says so.
func Filter(ctx context.Context, c client.Reader, warnings *verb.Stream, nodes []corev1.Node, pods, asked []corev1.Pod) (*feasibility.Filter, error) {
	cluster := &feasibility.Cluster{Nodes: nodes, Pods: pods}
	for _, list := range feasibility.Needed(asked, pods) {
		err := c.List(ctx, list)
		if apierrors.IsForbidden(err) {
			if err := warnings.Warn("%s: where pods may go that depend on them is not known", verb.OneLine(err)); err != nil {
				return nil, err
			}
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("listing what the scheduler's filters look at: %w", err)
		}
		objects, err := meta.ExtractList(list)
		if err != nil {
			return nil, fmt.Errorf("listing what the scheduler's filters look at: %w", err)
		}
		cluster.Others = append(cluster.Others, objects...)
	}
	return feasibility.New(cluster)
}
