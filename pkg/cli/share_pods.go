package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"sigs.k8s.io/controller-runtime/pkg/client"
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

// readNode reads pods, and the node that they are on, from YAML or JSON files, as
// kubectl get prints them. name says which node; it may be empty if there is one.
func readNode(paths []string, name string, stdin io.Reader) (*corev1.Node, []corev1.Pod, error) {
	r, err := newNodeReader()
	if err != nil {
		return nil, nil, err
	}
	if err := eachDocument(paths, stdin, r.add); err != nil {
		return nil, nil, err
	}
	return r.choose(name)
}

// nodeReader collects pods and nodes.
type nodeReader struct {
	decoder runtime.Decoder
	pods    []corev1.Pod
	nodes   []corev1.Node
}

func newNodeReader() (*nodeReader, error) {
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	return &nodeReader{decoder: serializer.NewCodecFactory(scheme).UniversalDeserializer()}, nil
}

// add adds an object or a list of them.
func (r *nodeReader) add(document []byte) error {
	object, kind, err := r.decoder.Decode(document, nil, nil)
	if err != nil {
		return err
	}
	switch o := object.(type) {
	case *corev1.Pod:
		r.pods = append(r.pods, *o)
	case *corev1.PodList:
		r.pods = append(r.pods, o.Items...)
	case *corev1.Node:
		r.nodes = append(r.nodes, *o)
	case *corev1.NodeList:
		r.nodes = append(r.nodes, o.Items...)
	case *corev1.List:
		return eachItem(o, r.add)
	default:
		return fmt.Errorf("%s is not read here; give Pods and a Node", kind.Kind)
	}
	return nil
}

// choose returns the node of a name, or the only one, and the pods that are on it or
// on none. Without nodes it is one of that name of which nothing is known.
func (r *nodeReader) choose(name string) (*corev1.Node, []corev1.Pod, error) {
	node := &corev1.Node{}
	node.Name = name
	var names []string
	found := len(r.nodes) == 0
	for i := range r.nodes {
		names = append(names, r.nodes[i].Name)
		if r.nodes[i].Name == name || name == "" && len(r.nodes) == 1 {
			node, found = &r.nodes[i], true
		}
	}
	switch {
	case !found && name == "":
		return nil, nil, fmt.Errorf("there are several nodes in the files, choose one, --node: %s", strings.Join(names, ", "))
	case !found:
		return nil, nil, fmt.Errorf("--node: %q is not a node of the files (%s)", name, strings.Join(names, ", "))
	}
	var pods []corev1.Pod
	for i := range r.pods {
		if on := r.pods[i].Spec.NodeName; on == "" || node.Name == "" || on == node.Name {
			pods = append(pods, r.pods[i])
		}
	}
	return node, pods, nil
}
