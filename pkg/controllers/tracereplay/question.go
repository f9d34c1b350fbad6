package tracereplay

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/replays"
	"loadline.dev/loadline/pkg/text"
)

// questionFile is the key of the question in its ConfigMap, and its file's name.
const questionFile = "replay.yaml"

// maxQuestion bounds the question, in bytes: a ConfigMap holds 1 MiB.
const maxQuestion = 1_000_000

// question is all that the answer depends on, but for the trace.
type question struct {
	replay    v1alpha1.TraceReplay
	workloads v1alpha1.WorkloadProfileList
	nodes     v1alpha1.NodeProfileList
}

// ask puts together the question of a replay: its spec and the profiles that it
// may need.
func ask(replay *v1alpha1.TraceReplay, workloads []v1alpha1.WorkloadProfile, nodes []v1alpha1.NodeProfile) *question {
	q := &question{}
	q.replay.TypeMeta = metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "TraceReplay"}
	q.replay.ObjectMeta = metav1.ObjectMeta{Namespace: replay.Namespace, Name: replay.Name}
	q.replay.Spec = replay.Spec
	q.workloads.TypeMeta = metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "WorkloadProfileList"}
	for _, w := range workloads {
		if !needsWorkload(&replay.Spec, w.Name) {
			continue
		}
		w.TypeMeta = metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "WorkloadProfile"}
		w.ObjectMeta = metav1.ObjectMeta{Namespace: w.Namespace, Name: w.Name}
		w.Status = v1alpha1.WorkloadProfileStatus{Measurements: w.Status.Measurements}
		q.workloads.Items = append(q.workloads.Items, w)
	}
	q.nodes.TypeMeta = metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "NodeProfileList"}
	for _, n := range nodes {
		if !slices.ContainsFunc(replay.Spec.Nodes, func(class v1alpha1.ReplayNodes) bool { return class.NodeProfile == n.Name }) {
			continue
		}
		n.TypeMeta = metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "NodeProfile"}
		n.ObjectMeta = metav1.ObjectMeta{Name: n.Name}
		n.Status = v1alpha1.NodeProfileStatus{Resources: n.Status.Resources}
		q.nodes.Items = append(q.nodes.Items, n)
	}
	slices.SortFunc(q.workloads.Items, func(a, b v1alpha1.WorkloadProfile) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(q.nodes.Items, func(a, b v1alpha1.NodeProfile) int { return strings.Compare(a.Name, b.Name) })
	return q
}

// needsWorkload reports whether jobs may follow a profile. Those of a trace may
// follow any of the namespace.
func needsWorkload(spec *v1alpha1.TraceReplaySpec, name string) bool {
	return spec.Arrivals == nil ||
		slices.ContainsFunc(spec.Arrivals.Types, func(t v1alpha1.ReplayJobType) bool { return t.Profile == name })
}

// parts are the documents of the question, in their order.
func (q *question) parts() []any { return []any{&q.replay, &q.workloads, &q.nodes} }

// configMap returns the question in the form that the runs read. Its error names the fault of the
// question.
func (q *question) configMap(owner *v1alpha1.TraceReplay) (*corev1.ConfigMap, error) {
	parts := q.parts()
	manifests := make([]text.Manifest, len(parts))
	for i, part := range parts {
		manifests[i].Object = part
	}
	written, err := text.Manifests(manifests...)
	if err != nil {
		return nil, fmt.Errorf("writing the question down: %w", err)
	}
	if len(written) > maxQuestion {
		return nil, fmt.Errorf("the replay and the %d profiles of its namespace take %d bytes, more than the %d that the runs can be given: move the replay to a namespace with fewer profiles",
			len(q.workloads.Items), len(written), maxQuestion)
	}
	return &corev1.ConfigMap{
		ObjectMeta: metadata(owner, questionName(owner.Name)),
		Immutable:  new(true),
		Data:       map[string]string{questionFile: string(written)},
	}, nil
}

// readQuestion reads what configMap wrote for a replay.
func readQuestion(stored *corev1.ConfigMap, of *v1alpha1.TraceReplay) (*question, error) {
	q := &question{}
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader([]byte(stored.Data[questionFile]))))
	for _, part := range q.parts() {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		if err == nil {
			err = yaml.Unmarshal(document, part)
		}
		if err != nil {
			return nil, fmt.Errorf("key %s: %w", questionFile, err)
		}
	}
	// Only the API server checks that the numbers are within their ranges.
	if !equality.Semantic.DeepEqual(q.replay.Spec, of.Spec) {
		return nil, fmt.Errorf("key %s: it has another spec", questionFile)
	}
	return q, nil
}

// replayer returns what can say which runs there are and merge their results.
func (q *question) replayer() (*replays.Replay, error) {
	return replays.New(replays.Input{
		Replay: &q.replay, Workloads: q.workloads.Items, Nodes: q.nodes.Items,
		Open: func() (io.ReadCloser, string, error) {
			return nil, "", errors.New("only the runs read the trace")
		},
	})
}
