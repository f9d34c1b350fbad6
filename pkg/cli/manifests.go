package cli

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

// manifests are the objects of some files, each kind in the order of the files.
type manifests struct {
	workloads []v1alpha1.WorkloadProfile
	nodes     []v1alpha1.NodeProfile
	replays   []v1alpha1.TraceReplay
	plans     []v1alpha1.PoolPlan
	trees     []v1alpha1.ShareTree
}

// open opens a file, or standard input for "-" where that may be. name is for
// messages.
func open(path string, stdin io.Reader) (file io.ReadCloser, name string, err error) {
	if path == "-" && stdin != nil {
		return io.NopCloser(stdin), "standard input", nil
	}
	file, err = os.Open(filepath.Clean(path))
	return file, filepath.Base(path), err
}

// readManifests reads YAML or JSON files of any number of documents, as kubectl
// apply does. Unknown kinds and fields are errors.
func readManifests(paths []string, stdin io.Reader) (*manifests, error) {
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	decoder := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
	m := &manifests{}
	for _, path := range paths {
		file, name, err := open(path, stdin)
		if err != nil {
			return nil, err
		}
		err = m.read(name, file, decoder)
		if err := errors.Join(err, file.Close()); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (m *manifests) read(name string, file io.Reader, decoder runtime.Decoder) error {
	documents := utilyaml.NewYAMLReader(bufio.NewReader(file))
	for number := 1; ; number++ {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if len(bytes.TrimSpace(stripComments(document))) == 0 {
			continue
		}
		object, _, err := decoder.Decode(document, nil, nil)
		if runtime.IsNotRegisteredError(err) {
			err = unknownKind(document)
		}
		if err != nil {
			return fmt.Errorf("%s, document %d: %w", name, number, err)
		}
		switch o := object.(type) {
		case *v1alpha1.WorkloadProfile:
			m.workloads = append(m.workloads, *o)
		case *v1alpha1.WorkloadProfileList:
			m.workloads = append(m.workloads, o.Items...)
		case *v1alpha1.NodeProfile:
			m.nodes = append(m.nodes, *o)
		case *v1alpha1.NodeProfileList:
			m.nodes = append(m.nodes, o.Items...)
		case *v1alpha1.TraceReplay:
			m.replays = append(m.replays, *o)
		case *v1alpha1.TraceReplayList:
			m.replays = append(m.replays, o.Items...)
		case *v1alpha1.PoolPlan:
			m.plans = append(m.plans, *o)
		case *v1alpha1.PoolPlanList:
			m.plans = append(m.plans, o.Items...)
		case *v1alpha1.ShareTree:
			m.trees = append(m.trees, *o)
		case *v1alpha1.ShareTreeList:
			m.trees = append(m.trees, o.Items...)
		}
	}
}

// unknownKind says of a document that is not of our API what it is and what
// belongs there.
func unknownKind(document []byte) error {
	var kind metav1.TypeMeta
	if err := yaml.Unmarshal(document, &kind); err != nil {
		return err
	}
	return fmt.Errorf("%s of %q is not read here; give WorkloadProfile, NodeProfile, PoolPlan, ShareTree and TraceReplay of %q", kind.Kind, kind.APIVersion, v1alpha1.GroupVersion)
}

// stripComments removes comment lines and document markers, to see whether
// anything is left.
func stripComments(document []byte) []byte {
	var rest []byte
	for line := range bytes.Lines(document) {
		if text := bytes.TrimSpace(line); !bytes.HasPrefix(text, []byte("#")) && !bytes.Equal(text, []byte("---")) {
			rest = append(rest, line...)
		}
	}
	return rest
}
