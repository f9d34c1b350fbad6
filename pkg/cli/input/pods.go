package input

import (
	"errors"
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
)

// PodsAndNodes are those of some files, each kind in the order of the files.
type PodsAndNodes struct {
	Pods  []corev1.Pod
	Nodes []corev1.Node

	decoder runtime.Decoder
}

// ReadPodsAndNodes reads YAML or JSON files of any number of pods and nodes, as kubectl
// get prints them. Other kinds are errors.
func ReadPodsAndNodes(paths []string, stdin io.Reader) (*PodsAndNodes, error) {
	p, err := newPodsAndNodes()
	if err != nil {
		return nil, err
	}
	return p, eachObject(paths, stdin, p.add)
}

func newPodsAndNodes() (*PodsAndNodes, error) {
	scheme := runtime.NewScheme()
	if err := errors.Join(corev1.AddToScheme(scheme), storagev1.AddToScheme(scheme)); err != nil {
		return nil, err
	}
	return &PodsAndNodes{decoder: serializer.NewCodecFactory(scheme).UniversalDeserializer()}, nil
}

// add adds an object.
func (p *PodsAndNodes) add(object []byte) error {
	decoded, kind, err := p.decoder.Decode(object, nil, nil)
	if err != nil {
		return err
	}
	switch o := decoded.(type) {
	case *corev1.Pod:
		p.Pods = append(p.Pods, *o)
	case *corev1.Node:
		p.Nodes = append(p.Nodes, *o)
	default:
		return fmt.Errorf("%s is not read here; give Pods and a Node", kind.Kind)
	}
	return nil
}
