package probejob

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Keys of metadata.
const (
	// MeasurementKey is the label of all Jobs and their pods. Its value is the uid
	// of the profile that they belong to.
	MeasurementKey = "loadline.dev/measurement"
	// StepKey is the label with the step of a Job, and the annotation with the unshortened step,
	// which may be too long for a label.
	StepKey = "loadline.dev/step"
	// OwnerKey is the annotation of Jobs and pods with the kind and the name of the
	// profile, such as "NodeProfile/fast".
	OwnerKey = "loadline.dev/measurement-of"
	// DeadlineKey is the annotation of Jobs with the seconds that they may take from when
	// their pods begin, as long as a manager attends to them: see [Attend].
	DeadlineKey = "loadline.dev/deadline-seconds"
)

// maxLabel is how long the value of a label and the name of a Job may be.
const maxLabel = 63

// maxGrace is how many seconds the containers of a pod have to end at most.
const maxGrace int64 = 30

// Placement says where a Job belongs and runs.
type Placement struct {
	// Owner is the profile that the Job belongs to and goes with.
	Owner metav1.Object
	// OwnerKind is the owner's.
	OwnerKind schema.GroupVersionKind
	// Namespace and Name are the Job's. See [Name].
	Namespace, Name string
	// Node is where its pod runs.
	Node string
	// Step is its step.
	Step string
	// Deadline is how long it may take from when its pod begins, at least a second.
	Deadline time.Duration
}

// Name returns a name for the Job of an owner and step, the same each time, that no
// other owner or step has. It is a DNS label.
func Name(owner metav1.Object, step string) string {
	return shorten(strings.ReplaceAll(owner.GetName(), ".", "-")+"-"+step, string(owner.GetUID())+"/"+step)
}

// shorten cuts a text to the length of a label and appends a hash of the whole.
func shorten(text, whole string) string {
	hash := sha256.Sum256([]byte(whole))
	suffix := "-" + hex.EncodeToString(hash[:4])
	return strings.TrimRight(text[:min(len(text), maxLabel-len(suffix))], "-.") + suffix
}

// New returns the Job that runs a pod once, on the node of the placement. The pod
// is scheduled, so that it finds no place where there is none. It has none of the
// template's labels, so that no Service sends it traffic and no controller takes it
// for its own, and no finalizers; it keeps the template's annotations. It ends within
// [maxGrace] once it is deleted: its node is needed for other measurements.
func New(p Placement, template corev1.PodTemplateSpec) *batchv1.Job {
	template = *template.DeepCopy()
	meta := p.metadata()
	annotations := map[string]string{}
	maps.Copy(annotations, template.Annotations)
	maps.Copy(annotations, meta.Annotations)
	template.ObjectMeta = metav1.ObjectMeta{Labels: meta.Labels, Annotations: annotations}
	if grace := template.Spec.TerminationGracePeriodSeconds; grace != nil {
		template.Spec.TerminationGracePeriodSeconds = new(min(*grace, maxGrace))
	}
	template.Spec.RestartPolicy = corev1.RestartPolicyNever
	template.Spec.NodeName = ""
	pin(&template.Spec, p.Node)
	deadline := int64(p.Deadline / time.Second)
	meta.Annotations[DeadlineKey] = strconv.FormatInt(deadline, 10)
	return &batchv1.Job{
		TypeMeta:   metav1.TypeMeta{APIVersion: batchv1.SchemeGroupVersion.String(), Kind: "Job"},
		ObjectMeta: meta,
		Spec: batchv1.JobSpec{
			BackoffLimit:            new(int32(0)),
			ActiveDeadlineSeconds:   new(min(deadline, unattendedSeconds)),
			TTLSecondsAfterFinished: new(int32(unattendedSeconds)),
			// The Job has failed when its pod has ended, not when that is being deleted.
			PodReplacementPolicy: new(batchv1.Failed),
			Template:             template,
		},
	}
}

func (p *Placement) metadata() metav1.ObjectMeta {
	step := p.Step
	if len(step) > maxLabel {
		step = shorten(step, step)
	}
	return metav1.ObjectMeta{
		Namespace: p.Namespace,
		Name:      p.Name,
		Labels: map[string]string{
			MeasurementKey: string(p.Owner.GetUID()), StepKey: step, "app.kubernetes.io/managed-by": "loadline-manager",
		},
		Annotations: map[string]string{OwnerKey: p.OwnerKind.Kind + "/" + p.Owner.GetName(), StepKey: p.Step},
		OwnerReferences: []metav1.OwnerReference{{
			APIVersion: p.OwnerKind.GroupVersion().String(), Kind: p.OwnerKind.Kind, Name: p.Owner.GetName(), UID: p.Owner.GetUID(),
			Controller: new(true),
		}},
	}
}

// Owner returns the kind and the name of the profile that a Job, or a pod of one,
// belongs to; ok is false for other objects.
func Owner(o metav1.Object) (kind, name string, ok bool) {
	return strings.Cut(o.GetAnnotations()[OwnerKey], "/")
}

// pin has a pod run on one node, if its own rules allow that node.
func pin(spec *corev1.PodSpec, node string) {
	if spec.Affinity == nil {
		spec.Affinity = &corev1.Affinity{}
	}
	if spec.Affinity.NodeAffinity == nil {
		spec.Affinity.NodeAffinity = &corev1.NodeAffinity{}
	}
	here := corev1.NodeSelectorRequirement{Key: metav1.ObjectNameField, Operator: corev1.NodeSelectorOpIn, Values: []string{node}}
	required := spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	if required == nil {
		spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = &corev1.NodeSelector{
			NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchFields: []corev1.NodeSelectorRequirement{here}}},
		}
		return
	}
	for i := range required.NodeSelectorTerms {
		// One term must match. One that asks for nothing matches nothing, and stays so.
		if term := &required.NodeSelectorTerms[i]; len(term.MatchExpressions)+len(term.MatchFields) > 0 {
			term.MatchFields = append(slices.Clone(term.MatchFields), here)
		}
	}
}

// Apply creates a Job by server-side apply, in the name of a field owner. Doing so
// again has no effect.
func Apply(ctx context.Context, c client.Client, job *batchv1.Job, fieldOwner string) error {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(job)
	if err != nil {
		return fmt.Errorf("applying Job %s: %w", client.ObjectKeyFromObject(job), err)
	}
	delete(content, "status")
	u := &unstructured.Unstructured{Object: content}
	unstructured.RemoveNestedField(content, "metadata", "creationTimestamp")
	unstructured.RemoveNestedField(content, "spec", "template", "metadata", "creationTimestamp")
	if err := c.Apply(ctx, client.ApplyConfigurationFromUnstructured(u), client.FieldOwner(fieldOwner)); err != nil {
		return fmt.Errorf("applying Job %s: %w", client.ObjectKeyFromObject(job), err)
	}
	return nil
}
