// Package manifest has the pods of workloads as manifests have them: a Deployment, a CronJob, or a single Pod.
package manifest

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/text"
)

// Workload is pods of one kind, as a manifest has them: a Deployment, a CronJob, or a single Pod.
type Workload struct {
	// Kind is that of the manifest, such as Deployment.
	Kind string
	// Pod is one of the pods. Its name and namespace are those of the manifest, its labels and spec those of the template.
	Pod corev1.Pod
	// Replicas is how many pods the manifest asks for; nil is one on each node.
	Replicas *int32
	// UID is that of the object, if it is from a cluster, and Owner that of its controller, if it has one.
	UID, Owner types.UID
}

// workloadKinds are the kinds of manifests that have pods, with the names that kubectl has for them besides, and where in
// the manifest the spec of a pod is.
var workloadKinds = []struct {
	kind  string
	names []string
	spec  string
}{
	{"Pod", []string{"pod", "pods", "po"}, "spec"},
	{"Deployment", []string{"deployment", "deployments", "deploy"}, "spec.template.spec"},
	{"StatefulSet", []string{"statefulset", "statefulsets", "sts"}, "spec.template.spec"},
	{"DaemonSet", []string{"daemonset", "daemonsets", "ds"}, "spec.template.spec"},
	{"ReplicaSet", []string{"replicaset", "replicasets", "rs"}, "spec.template.spec"},
	{"Job", []string{"job", "jobs"}, "spec.template.spec"},
	{"CronJob", []string{"cronjob", "cronjobs", "cj"}, "spec.jobTemplate.spec.template.spec"},
}

// Name returns how kubectl names the workload, deployment/web; with its namespace it is deployment/shop/web.
func (w *Workload) Name() string {
	return strings.ToLower(w.Kind) + "/" + text.QualifiedName(&w.Pod)
}

// HasName reports whether a name is that of the workload: web, shop/web, deployment/web, deploy/web or deployment/shop/web.
func (w *Workload) HasName(name string) bool {
	if name == w.Pod.Name || name == text.QualifiedName(&w.Pod) {
		return true
	}
	kind, rest, _ := strings.Cut(name, "/")
	for _, k := range workloadKinds {
		if k.kind == w.Kind && slices.Contains(k.names, strings.ToLower(kind)) {
			return rest == w.Pod.Name || rest == text.QualifiedName(&w.Pod)
		}
	}
	return false
}

// Validate returns an error that names the field of the manifest that is wrong, as the API server would.
func (w *Workload) Validate() error {
	if w.Pod.Name == "" {
		return fmt.Errorf("%s: metadata.name: there is none", strings.ToLower(w.Kind))
	}
	var errs field.ErrorList
	spec := w.SpecPath()
	if len(w.Pod.Spec.Containers) == 0 {
		errs = append(errs, field.Required(spec.Child("containers"), "a pod has at least one container"))
	}
	names := sets.New[string]()
	for _, list := range []struct {
		field string
		of    []corev1.Container
	}{{"initContainers", w.Pod.Spec.InitContainers}, {"containers", w.Pod.Spec.Containers}} {
		for i := range list.of {
			c, path := &list.of[i], spec.Child(list.field).Index(i)
			if names.Has(c.Name) {
				errs = append(errs, field.Duplicate(path.Child("name"), c.Name))
			}
			names.Insert(c.Name)
			errs = append(errs, validateResources(&c.Resources, path.Child("resources"))...)
		}
	}
	if w.Pod.Spec.Resources != nil {
		errs = append(errs, validateResources(w.Pod.Spec.Resources, spec.Child("resources"))...)
	}
	if len(errs) > 0 {
		return fmt.Errorf("%s: %w", w.Name(), errs.ToAggregate())
	}
	return nil
}

// SpecPath returns where in the manifest the spec of a pod is.
func (w *Workload) SpecPath() *field.Path {
	for _, k := range workloadKinds {
		if k.kind == w.Kind {
			parts := strings.Split(k.spec, ".")
			return field.NewPath(parts[0], parts[1:]...)
		}
	}
	return field.NewPath("spec")
}

func validateResources(r *corev1.ResourceRequirements, path *field.Path) (errs field.ErrorList) {
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		request, requested := r.Requests[name]
		limit, limited := r.Limits[name]
		requests, limits := path.Child("requests").Key(string(name)), path.Child("limits").Key(string(name))
		if err := InvalidAmount(name, &request); err != "" {
			errs = append(errs, field.Invalid(requests, request.String(), err))
		}
		if err := InvalidAmount(name, &limit); err != "" {
			errs = append(errs, field.Invalid(limits, limit.String(), err))
		}
		if requested && limited && request.Cmp(limit) > 0 {
			errs = append(errs, field.Invalid(requests, request.String(), fmt.Sprintf("must be less than or equal to the limit of %s", limit.String())))
		}
	}
	return errs
}

// InvalidAmount returns what is wrong with an amount of CPU or memory, empty for nothing.
func InvalidAmount(name corev1.ResourceName, q *resource.Quantity) string {
	switch {
	case q.Sign() < 0:
		return "must be greater than or equal to 0"
	case name == corev1.ResourceCPU && q.CmpInt64(loading.MaxServers) > 0:
		return fmt.Sprintf("is more than the %d cores that a node may have", loading.MaxServers)
	default:
		return ""
	}
}
