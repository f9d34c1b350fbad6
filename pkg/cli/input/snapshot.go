package input

import (
	"io"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/feasibility"
)

// Snapshot is what files hold of a cluster: pods, nodes, namespaces, volumes and profiles.
type Snapshot struct {
	*PodsAndNodes

	Namespaces []corev1.Namespace
	Profiles   *Manifests

	volumes []runtime.Object // what the scheduler looks at for these
}

// ReadSnapshot reads YAML or JSON files of any number of pods, nodes, namespaces, what belongs to volumes, and objects
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

// Feasibility returns what says where pods may go, as far as the files tell.
func (s *Snapshot) Feasibility() (*feasibility.Filter, error) {
	cluster := &feasibility.Cluster{Nodes: s.Nodes, Pods: s.Pods, Others: slices.Clone(s.volumes)}
	for i := range s.Namespaces {
		cluster.Others = append(cluster.Others, &s.Namespaces[i])
	}
	return feasibility.New(cluster)
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
	case ofVolumes(gvk):
		decoded, _, err := s.decoder.Decode(object, nil, nil)
		if err != nil {
			return err
		}
		s.volumes = append(s.volumes, decoded)
		return nil
	default:
		return s.PodsAndNodes.add(object)
	}
}

// ofVolumes reports whether objects of a kind belong to volumes.
func ofVolumes(kind schema.GroupVersionKind) bool {
	core := corev1.SchemeGroupVersion
	return kind.GroupVersion() == storagev1.SchemeGroupVersion || kind == core.WithKind("PersistentVolume") || kind == core.WithKind("PersistentVolumeClaim")
}
