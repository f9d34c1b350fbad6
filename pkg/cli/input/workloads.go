package input

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate"
)

// Workloads are the workloads of some files, in their order, and the profiles beside them.
type Workloads struct {
	Profiles  *Manifests
	Workloads []evaluate.Workload
	// Others counts, by their kinds, the objects of Kubernetes that have no pods, such as Services. Namespaces are those of
	// them.
	Others     map[string]int
	Namespaces []corev1.Namespace

	decoder runtime.Decoder
}

// ErrNode is the error of [ReadWorkloads] for a Node.
var ErrNode = errors.New("a Node is not read here")

// ReadWorkloads reads YAML or JSON files of any number of documents, as kubectl apply does, and lists, as kubectl get
// prints them: workloads and the profiles of their pods and nodes. Other objects of Kubernetes that have no pods are counted;
// unknown kinds are errors, and so are unknown fields, but for those of an object that is from a cluster.
func ReadWorkloads(paths []string, stdin io.Reader) (*Workloads, error) {
	profiles, err := newManifests()
	if err != nil {
		return nil, err
	}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, appsv1.AddToScheme, batchv1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	w := &Workloads{Profiles: profiles, Others: map[string]int{}, decoder: serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()}
	return w, eachObject(paths, stdin, w.add)
}

// add adds an object.
func (w *Workloads) add(object []byte) error {
	var kind metav1.TypeMeta
	if err := yaml.Unmarshal(object, &kind); err != nil {
		return err
	}
	gvk := kind.GroupVersionKind()
	switch {
	case gvk.Kind == "":
		return errors.New("kind: there is none")
	case gvk.Group == v1alpha1.GroupVersion.Group:
		return w.Profiles.add(object)
	case isWorkload(gvk):
		return w.addWorkload(object)
	case gvk == corev1.SchemeGroupVersion.WithKind("Node"):
		return ErrNode
	case clientgoscheme.Scheme.Recognizes(gvk) && !hasPods(gvk.Kind):
		w.Others[gvk.Kind]++
		if gvk != corev1.SchemeGroupVersion.WithKind("Namespace") {
			return nil
		}
		var namespace corev1.Namespace
		if err := yaml.Unmarshal(object, &namespace); err != nil {
			return err
		}
		w.Namespaces = append(w.Namespaces, namespace)
		return nil
	default:
		return fmt.Errorf("%s of %q is not read here; give %s, and WorkloadProfile and NodeProfile of %q",
			gvk.Kind, kind.APIVersion, strings.Join(evaluate.WorkloadKinds(), ", "), v1alpha1.GroupVersion)
	}
}

// isWorkload reports whether a kind is one that is read.
func isWorkload(gvk schema.GroupVersionKind) bool {
	read := []schema.GroupVersion{corev1.SchemeGroupVersion, appsv1.SchemeGroupVersion, batchv1.SchemeGroupVersion}
	return slices.Contains(read, gvk.GroupVersion()) && slices.Contains(evaluate.WorkloadKinds(), gvk.Kind) && clientgoscheme.Scheme.Recognizes(gvk)
}

// hasPods reports whether objects of a kind, of whatever version, have pods.
func hasPods(kind string) bool {
	return kind == "ReplicationController" || slices.Contains(evaluate.WorkloadKinds(), kind)
}

func (w *Workloads) addWorkload(document []byte) error {
	object, gvk, err := w.decoder.Decode(document, nil, nil)
	if runtime.IsStrictDecodingError(err) && object != nil && fromCluster(object) {
		err = nil // a newer API server than this program has fields that this does not know
	}
	if err != nil {
		if bad := badQuantity(document); bad != nil {
			return bad
		}
		return err
	}
	one := int32(1)
	switch o := object.(type) {
	case *corev1.Pod:
		w.append(gvk.Kind, o, &corev1.PodTemplateSpec{ObjectMeta: o.ObjectMeta, Spec: o.Spec}, &one)
		w.Workloads[len(w.Workloads)-1].Pod.Status = o.Status
	case *appsv1.Deployment:
		w.append(gvk.Kind, o, &o.Spec.Template, cmp.Or(o.Spec.Replicas, &one))
	case *appsv1.StatefulSet:
		w.append(gvk.Kind, o, &o.Spec.Template, cmp.Or(o.Spec.Replicas, &one))
	case *appsv1.ReplicaSet:
		w.append(gvk.Kind, o, &o.Spec.Template, cmp.Or(o.Spec.Replicas, &one))
	case *appsv1.DaemonSet:
		w.append(gvk.Kind, o, &o.Spec.Template, nil)
	case *batchv1.Job:
		w.append(gvk.Kind, o, &o.Spec.Template, cmp.Or(o.Spec.Parallelism, &one))
	case *batchv1.CronJob:
		w.append(gvk.Kind, o, &o.Spec.JobTemplate.Spec.Template, cmp.Or(o.Spec.JobTemplate.Spec.Parallelism, &one))
	}
	return nil
}

func fromCluster(object runtime.Object) bool {
	meta, ok := object.(metav1.Object)
	return ok && meta.GetUID() != ""
}

// append adds a workload with its pods.
func (w *Workloads) append(kind string, object metav1.Object, template *corev1.PodTemplateSpec, replicas *int32) {
	pod := corev1.Pod{Spec: template.Spec}
	pod.Namespace, pod.Name, pod.Labels = object.GetNamespace(), cmp.Or(object.GetName(), strings.TrimSuffix(object.GetGenerateName(), "-")), template.Labels
	workload := evaluate.Workload{Kind: kind, Pod: pod, Replicas: replicas, UID: object.GetUID()}
	if owner := metav1.GetControllerOf(object); owner != nil {
		workload.Owner = owner.UID
	}
	w.Workloads = append(w.Workloads, workload)
}

// badQuantity returns an error that names the first request or limit that is no quantity, which the decoder does not, nil
// if there is none.
func badQuantity(document []byte) error {
	var fields any
	if err := yaml.Unmarshal(document, &fields); err != nil {
		return err
	}
	return findBadQuantity(nil, fields)
}

func findBadQuantity(path *field.Path, value any) error {
	switch v := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			child := v[key]
			at := field.NewPath(key)
			if path != nil {
				at = path.Child(key)
			}
			amounts, is := child.(map[string]any)
			if !is || key != "requests" && key != "limits" {
				if err := findBadQuantity(at, child); err != nil {
					return err
				}
				continue
			}
			for _, name := range slices.Sorted(maps.Keys(amounts)) {
				if _, err := resource.ParseQuantity(fmt.Sprint(amounts[name])); err != nil {
					return field.Invalid(at.Key(name), amounts[name], "is not a quantity such as 500m or 2")
				}
			}
		}
	case []any:
		for i, child := range v {
			if err := findBadQuantity(path.Index(i), child); err != nil {
				return err
			}
		}
	}
	return nil
}
