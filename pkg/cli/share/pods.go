package share

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/pkg/cli/input"
)

// podsOfNode returns a node of a cluster and its pods.
func podsOfNode(ctx context.Context, c client.Client, name string) (*corev1.Node, []corev1.Pod, error) {
	node := &corev1.Node{}
	if err := c.Get(ctx, client.ObjectKey{Name: name}, node); err != nil {
		if apierrors.IsNotFound(err) {
			return nil, nil, fmt.Errorf("--node: there is no node %q in the cluster", name)
		}
		return nil, nil, fmt.Errorf("reading node %s: %w", name, err)
	}
	var pods corev1.PodList
	if err := c.List(ctx, &pods, client.MatchingFields{"spec.nodeName": name}); err != nil {
		return nil, nil, fmt.Errorf("listing the pods of node %s: %w", name, err)
	}
	return node, pods.Items, nil
}

// readNode reads pods, and the node that they are on, from the files of --pods, as
// kubectl get prints them. --node says which node; it may be empty if there is one.
func (s *share) readNode() (*corev1.Node, []corev1.Pod, error) {
	files := input.Files{Paths: s.node.pods, Recursive: s.files.Recursive, For: "share --pods"}
	given, err := files.Read(s.streams, input.Pod, input.Node)
	if err != nil {
		return nil, nil, err
	}
	return choose(given, s.node.name)
}

// choose returns the node with a name, or the only one, and the pods that are on it or on none.
// Without nodes it is one of that name without known properties.
func choose(given *input.Objects, name string) (*corev1.Node, []corev1.Pod, error) {
	node := &corev1.Node{}
	node.Name = name
	var names []string
	found := len(given.Nodes) == 0
	for i := range given.Nodes {
		names = append(names, given.Nodes[i].Name)
		if given.Nodes[i].Name == name || name == "" && len(given.Nodes) == 1 {
			node, found = &given.Nodes[i], true
		}
	}
	switch {
	case !found && name == "":
		return nil, nil, fmt.Errorf("there are several nodes in the files, choose one, --node: %s", strings.Join(names, ", "))
	case !found:
		return nil, nil, fmt.Errorf("--node: %q is not a node of the files (%s)", name, strings.Join(names, ", "))
	}
	var pods []corev1.Pod
	for i := range given.Pods {
		if on := given.Pods[i].Spec.NodeName; on == "" || node.Name == "" || on == node.Name {
			pods = append(pods, given.Pods[i])
		}
	}
	return node, pods, nil
}
