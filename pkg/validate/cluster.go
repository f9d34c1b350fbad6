package validate

import (
	"context"

	"k8s.io/apimachinery/pkg/labels"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

// Cluster reads a cluster.
type Cluster struct {
	Workloads []v1alpha1.WorkloadProfile
	Nodes     []v1alpha1.NodeProfile
	Trees     []v1alpha1.ShareTree
	// PodLabels are the labels of the pods, by namespace.
	PodLabels map[string][]labels.Set
	// NodeLabels are those of the nodes.
	NodeLabels []labels.Set
	// Apply applies an object without keeping it, and returns the API server's
	// objections. Admission policies, rights and fields that cannot be changed are
	// known to the cluster alone.
	Apply func(ctx context.Context, object map[string]any) error
}

// Followers are the pods or nodes that would follow a profile of the files.
type Followers struct {
	ObjectName

	// Count is how many.
	Count int32 `json:"count"`
	// Conflict says which equally specific profiles want the same ones, and which
	// profile wins; empty if none does.
	Conflict string `json:"conflict,omitempty"`
}
