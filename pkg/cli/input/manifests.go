package input

import (
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"sigs.k8s.io/yaml"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

// Manifests are the objects of some files, each kind in the order of the files.
type Manifests struct {
	Workloads []v1alpha1.WorkloadProfile
	Nodes     []v1alpha1.NodeProfile
	Replays   []v1alpha1.TraceReplay
	Plans     []v1alpha1.PoolPlan
	Trees     []v1alpha1.ShareTree
	// Namespaces are there for their labels.
	Namespaces []corev1.Namespace

	decoder runtime.Decoder
}

// ReadManifests reads YAML or JSON files of any number of documents, as kubectl
// apply does, and lists, as kubectl get prints them. Unknown kinds and fields are
// errors.
func ReadManifests(paths []string, stdin io.Reader) (*Manifests, error) {
	m, err := newManifests()
	if err != nil {
		return nil, err
	}
	return m, eachObject(paths, stdin, m.add)
}

func newManifests() (*Manifests, error) {
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	scheme.AddKnownTypes(corev1.SchemeGroupVersion, &corev1.Namespace{})
	return &Manifests{decoder: serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()}, nil
}

// add adds an object.
func (m *Manifests) add(object []byte) error {
	decoded, _, err := m.decoder.Decode(object, nil, nil)
	if runtime.IsNotRegisteredError(err) {
		err = unknownKind(object)
	}
	if err != nil {
		return err
	}
	switch o := decoded.(type) {
	case *v1alpha1.WorkloadProfile:
		m.Workloads = append(m.Workloads, *o)
	case *v1alpha1.NodeProfile:
		m.Nodes = append(m.Nodes, *o)
	case *v1alpha1.TraceReplay:
		m.Replays = append(m.Replays, *o)
	case *v1alpha1.PoolPlan:
		m.Plans = append(m.Plans, *o)
	case *v1alpha1.ShareTree:
		m.Trees = append(m.Trees, *o)
	case *corev1.Namespace:
		m.Namespaces = append(m.Namespaces, *o)
	}
	return nil
}

// unknownKind says of a document that is not of our API what it is and what
// belongs there.
func unknownKind(document []byte) error {
	var kind metav1.TypeMeta
	if err := yaml.Unmarshal(document, &kind); err != nil {
		return err
	}
	return fmt.Errorf("%s of %q is not read here; give WorkloadProfile, NodeProfile, PoolPlan, ShareTree and TraceReplay of %q, and Namespaces", kind.Kind, kind.APIVersion, v1alpha1.GroupVersion)
}
