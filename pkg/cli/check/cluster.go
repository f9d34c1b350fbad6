package check

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/validate"
)

// gatherCluster reads the cluster's objects that concern the manifests.
func (c *check) gatherCluster(ctx context.Context, in *validate.Input) error {
	reached, namespace, err := c.cluster.Connect(c.streams.Err)
	if err != nil {
		return err
	}
	in.Namespace = namespace
	there := &validate.Cluster{PodLabels: map[string][]labels.Set{}}
	var workloads v1alpha1.WorkloadProfileList
	var nodes v1alpha1.NodeProfileList
	var trees v1alpha1.ShareTreeList
	pods, machines := labelsOnly("PodList"), labelsOnly("NodeList")
	for _, list := range []struct {
		what string
		into client.ObjectList
	}{{"WorkloadProfiles", &workloads}, {"NodeProfiles", &nodes}, {"ShareTrees", &trees}, {"pods", pods}, {"nodes", machines}} {
		if err := reached.List(ctx, list.into); err != nil {
			return fmt.Errorf("listing %s: %w", list.what, err)
		}
	}
	there.Workloads, there.Nodes, there.Trees = workloads.Items, nodes.Items, trees.Items
	for i := range pods.Items {
		p := &pods.Items[i]
		there.PodLabels[p.Namespace] = append(there.PodLabels[p.Namespace], p.Labels)
	}
	for i := range machines.Items {
		there.NodeLabels = append(there.NodeLabels, machines.Items[i].Labels)
	}
	there.Apply = func(ctx context.Context, object map[string]any) error {
		u := &unstructured.Unstructured{Object: object}
		return reached.Apply(ctx, client.ApplyConfigurationFromUnstructured(u), client.DryRunAll, client.ForceOwnership, client.FieldOwner("kubectl-loadline"))
	}
	in.Cluster = there
	return nil
}

// labelsOnly returns a list for the metadata of objects.
func labelsOnly(kind string) *metav1.PartialObjectMetadataList {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(kind))
	return list
}
