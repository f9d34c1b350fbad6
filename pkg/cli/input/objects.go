package input

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"loadline.dev/loadline/apis/decode"
	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/admission"
	"loadline.dev/loadline/pkg/cli/verb"
	"loadline.dev/loadline/pkg/evaluate/disruption"
	"loadline.dev/loadline/pkg/evaluate/manifest"
	"loadline.dev/loadline/pkg/text"
)

// Objects are those of some files that a verb has a use for, each kind in the order of the files.
type Objects struct {
	WorkloadProfiles []v1alpha1.WorkloadProfile
	NodeProfiles     []v1alpha1.NodeProfile
	TraceReplays     []v1alpha1.TraceReplay
	PoolPlans        []v1alpha1.PoolPlan
	ShareTrees       []v1alpha1.ShareTree
	Policies         []v1alpha1.RemediationPolicy
	Remediations     []v1alpha1.Remediation
	Pods             []corev1.Pod
	Nodes            []corev1.Node
	Namespaces       []corev1.Namespace
	Workloads        []manifest.Workload
	// Volumes are the objects that decide on which nodes the volumes of pods can be used.
	Volumes []runtime.Object
	// Disruption holds the objects that decide whether pods may be disrupted.
	Disruption disruption.Input
	// Admission holds the objects that say which resources the API server lets pods have.
	Admission admission.Input
	// Skipped counts the objects that the verb has no use for, by kind.
	Skipped map[string]int
}

// Kind is a kind of objects that verbs have a use for.
type Kind struct {
	schema.GroupVersionKind

	// printed reports whether such objects are those of a cluster, as kubectl get prints them.
	printed bool
	add     func(all *Objects, object *decode.Value, decoder *decode.Decoder) error
}

// The kinds that are read unchanged.
var (
	WorkloadProfile   = kindOf(v1alpha1.GroupVersion, "WorkloadProfile", func(all *Objects) *[]v1alpha1.WorkloadProfile { return &all.WorkloadProfiles })
	NodeProfile       = kindOf(v1alpha1.GroupVersion, "NodeProfile", func(all *Objects) *[]v1alpha1.NodeProfile { return &all.NodeProfiles })
	TraceReplay       = kindOf(v1alpha1.GroupVersion, "TraceReplay", func(all *Objects) *[]v1alpha1.TraceReplay { return &all.TraceReplays })
	PoolPlan          = kindOf(v1alpha1.GroupVersion, "PoolPlan", func(all *Objects) *[]v1alpha1.PoolPlan { return &all.PoolPlans })
	ShareTree         = kindOf(v1alpha1.GroupVersion, "ShareTree", func(all *Objects) *[]v1alpha1.ShareTree { return &all.ShareTrees })
	RemediationPolicy = kindOf(v1alpha1.GroupVersion, "RemediationPolicy", func(all *Objects) *[]v1alpha1.RemediationPolicy { return &all.Policies })
	Remediation       = kindOf(v1alpha1.GroupVersion, "Remediation", func(all *Objects) *[]v1alpha1.Remediation { return &all.Remediations })
	Pod               = kindOf(corev1.SchemeGroupVersion, "Pod", func(all *Objects) *[]corev1.Pod { return &all.Pods })
	Node              = kindOf(corev1.SchemeGroupVersion, "Node", func(all *Objects) *[]corev1.Node { return &all.Nodes })
	Namespace         = kindOf(corev1.SchemeGroupVersion, "Namespace", func(all *Objects) *[]corev1.Namespace { return &all.Namespaces })
)

// Snapshot returns the kinds by which files stand for a cluster.
func Snapshot() []Kind {
	return append([]Kind{Pod, Node, Namespace, WorkloadProfile, NodeProfile}, volumes...)
}

// ours are the kinds of Loadline's API.
var ours = []Kind{WorkloadProfile, NodeProfile, PoolPlan, ShareTree, TraceReplay, RemediationPolicy, Remediation}

// kindOf returns a kind whose objects are added to a list.
func kindOf[T any](version schema.GroupVersion, name string, list func(*Objects) *[]T) Kind {
	return Kind{version.WithKind(name), version == corev1.SchemeGroupVersion, func(all *Objects, object *decode.Value, decoder *decode.Decoder) error {
		var one T
		if err := decoder.Into(object, &one); err != nil {
			return err
		}
		to := list(all)
		*to = append(*to, one)
		return nil
	}}
}

// Read reads the objects of some kinds from YAML or JSON files of any number of documents, as kubectl apply takes them, and lists,
// as kubectl get prints them. Those of other kinds are counted, and named once on the error stream as ones that the verb does not
// use. Unknown fields are errors, except those of a pod, a node, a namespace, an object for volumes, or an object that has a UID:
// these are from a cluster, which may be newer than this program. An error names the file, the document, the field, its value and
// the rule.
func (f *Files) Read(streams verb.Streams, kinds ...Kind) (*Objects, error) {
	sources, err := f.Sources()
	if err != nil {
		return nil, err
	}
	r := reader{kinds: kinds, objects: &Objects{Skipped: map[string]int{}}, lenient: decode.Decoder{Lenient: true}}
	if err := eachObject(sources, streams.In, r.take); err != nil {
		return nil, err
	}
	if len(r.objects.Skipped) == 0 || streams.Err == nil {
		return r.objects, nil
	}
	return r.objects, streams.Err.Lines(r.objects.skippedLine(f.For))
}

// reader sorts objects by their kinds.
type reader struct {
	kinds   []Kind
	objects *Objects
	// strict reads a person's input, lenient a cluster's, and documents that are only inspected in passing.
	strict, lenient decode.Decoder
}

// take takes an object.
func (r *reader) take(text []byte) error {
	object, err := decode.Read(text)
	if err != nil {
		return err
	}
	var written metav1.TypeMeta
	if err := r.lenient.Into(object, &written); err != nil {
		return err
	}
	if err := checkType(written); err != nil {
		return err
	}
	i := slices.IndexFunc(r.kinds, func(k Kind) bool { return k.GroupVersionKind == written.GroupVersionKind() })
	if i < 0 {
		r.objects.Skipped[r.nameOf(written)]++
		return nil
	}
	var header metav1.PartialObjectMetadata
	if err := r.lenient.Into(object, &header); err != nil {
		return err
	}
	decoder := &r.strict
	if header.UID != "" || r.kinds[i].printed {
		decoder = &r.lenient
	}
	return r.kinds[i].add(r.objects, object, decoder)
}

// checkType refuses documents that are no objects of Kubernetes, and kinds of Loadline's API that it does not have.
func checkType(written metav1.TypeMeta) error {
	is := func(k Kind) bool { return k.GroupVersionKind == written.GroupVersionKind() }
	switch {
	case written.Kind == "":
		return errors.New("kind: there is none: every object says which kind of which API it is")
	case written.APIVersion == "":
		return errors.New("apiVersion: there is none: every object says which kind of which API it is")
	case written.GroupVersionKind().Group == v1alpha1.GroupVersion.Group && !slices.ContainsFunc(ours, is):
		var names []string
		for _, k := range ours {
			names = append(names, k.Kind)
		}
		return fmt.Errorf("kind: there is no %q of %q; %s has %s", written.Kind, written.APIVersion, v1alpha1.GroupVersion, strings.Join(names, ", "))
	}
	return nil
}

// nameOf returns the printed name of a skipped kind: with its version where the kind would be read in another one.
func (r *reader) nameOf(written metav1.TypeMeta) string {
	if slices.ContainsFunc(r.kinds, func(k Kind) bool { return k.Kind == written.Kind }) {
		return written.Kind + " of " + written.APIVersion
	}
	return written.Kind
}

// skippedLine states the number of skipped objects of each kind, the most frequent first.
func (o *Objects) skippedLine(by string) string {
	const shown = 5
	kinds := slices.SortedFunc(maps.Keys(o.Skipped), func(a, b string) int {
		return cmp.Or(cmp.Compare(o.Skipped[b], o.Skipped[a]), cmp.Compare(a, b))
	})
	all := 0
	for _, n := range o.Skipped {
		all += n
	}
	var parts []string
	for _, kind := range kinds[:min(shown, len(kinds))] {
		parts = append(parts, fmt.Sprintf("%s (%d)", text.Abridged(kind, longestKind), o.Skipped[kind]))
	}
	if more := len(kinds) - shown; more > 0 {
		parts = append(parts, text.Counted(more, "other kind"))
	}
	of := "kinds"
	if len(kinds) == 1 {
		of = "a kind"
	}
	return fmt.Sprintf("Skipped %s of %s that %s has no use for: %s.", text.Counted(all, "object"), of, by, strings.Join(parts, ", "))
}

// longestKind is how many characters of a kind are printed: the API server takes 63.
const longestKind = 63
