package input

import (
	"io"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

// Snapshot is what files hold of a cluster: pods, nodes, namespaces and profiles.
type Snapshot struct {
	*PodsAndNodes

	Namespaces []corev1.Namespace
	Profiles   *Manifests
}

// ReadSnapshot reads YAML or JSON files of any number of pods, nodes, namespaces and objects
// of Loadline's API, as kubectl get prints them. Other kinds are errors.
func ReadSnapshot(paths []string, stdin io.Reader) (*Snapshot, error) {
	profiles, err := newManifests()
	if err != nil {
		return nil, err
	}
	pods, err := newPodsAndNodes()
	if err != nil {
		return nil, err
	}
	s := &Snapshot{PodsAndNodes: pods, Profiles: profiles}
	return s, eachObject(paths, stdin, s.add)
}

// add adds an object.
func (s *Snapshot) add(object []byte) error {
	var kind metav1.TypeMeta
	if err := yaml.Unmarshal(object, &kind); err != nil {
		return err
	}
	switch gvk := kind.GroupVersionKind(); {
	case gvk == corev1.SchemeGroupVersion.WithKind("Namespace"):
		var namespace corev1.Namespace
		if err := yaml.Unmarshal(object, &namespace); err != nil {
			return err
		}
		s.Namespaces = append(s.Namespaces, namespace)
		return nil
	case gvk.Group == v1alpha1.GroupVersion.Group:
		return s.Profiles.add(object)
	default:
		return s.PodsAndNodes.add(object)
	}
}
