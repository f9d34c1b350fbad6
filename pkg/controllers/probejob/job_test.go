package probejob_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/controllers/probejob"
)

func TestAJobRunsItsPodOnceAndGoesWithItsOwner(t *testing.T) {
	t.Parallel()
	j := job()
	if !metav1.IsControlledBy(j, owner()) {
		t.Errorf("the owner is %+v", j.OwnerReferences)
	}
	if j.Kind != "Job" || j.APIVersion != "batch/v1" {
		t.Errorf("it is a %s of %s, and cannot be applied", j.Kind, j.APIVersion)
	}
	if *j.Spec.BackoffLimit != 0 || j.Spec.Template.Spec.RestartPolicy != corev1.RestartPolicyNever {
		t.Errorf("it runs more than once: %+v", j.Spec)
	}
	if *j.Spec.PodReplacementPolicy != "Failed" {
		t.Errorf("its pod is replaced when it is %s", *j.Spec.PodReplacementPolicy)
	}
	want := map[string]string{"loadline.dev/measurement": "fast-uid", "loadline.dev/step": "calibrate-cpu", "app.kubernetes.io/managed-by": "loadline-manager"}
	for who, labels := range map[string]map[string]string{"the Job": j.Labels, "the pod": j.Spec.Template.Labels} {
		if diff := cmp.Diff(want, labels); diff != "" {
			t.Errorf("labels of %s (-want +got):\n%s", who, diff)
		}
	}
	for who, o := range map[string]metav1.Object{"the Job": j, "the pod": &j.Spec.Template} {
		if kind, name, ok := probejob.Owner(o); !ok || kind != "NodeProfile" || name != "fast" || o.GetAnnotations()[probejob.StepKey] != "calibrate-cpu" {
			t.Errorf("%s is for %s %s and the step %s", who, kind, name, o.GetAnnotations()[probejob.StepKey])
		}
	}
}

func TestAWorkloadsPodKeepsItsAnnotationsAndLosesItsLabelsAndNode(t *testing.T) {
	t.Parallel()
	template := corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{
			Name: "web", Namespace: "elsewhere", Labels: map[string]string{"app": "web"}, Annotations: map[string]string{"sidecar.example.test/inject": "false"},
		},
		Spec: corev1.PodSpec{NodeName: "other", RestartPolicy: corev1.RestartPolicyOnFailure, ServiceAccountName: "web"},
	}
	before := template.DeepCopy()
	made := probejob.New(placed(), template).Spec.Template
	if made.Labels["app"] != "" || made.Name != "" || made.Namespace != "" || made.Spec.NodeName != "" {
		t.Errorf("it keeps what it must not: %+v, node %q", made.ObjectMeta, made.Spec.NodeName)
	}
	if made.Annotations["sidecar.example.test/inject"] != "false" || made.Spec.ServiceAccountName != "web" {
		t.Errorf("it lost what it needs: %+v, service account %q", made.ObjectMeta, made.Spec.ServiceAccountName)
	}
	if diff := cmp.Diff(before, &template); diff != "" {
		t.Errorf("the template was changed (-before +after):\n%s", diff)
	}
}

func TestAPodRunsOnItsNodeAndWhereItsOwnRulesAllow(t *testing.T) {
	t.Parallel()
	ssd := corev1.NodeSelectorRequirement{Key: "disk", Operator: corev1.NodeSelectorOpIn, Values: []string{"ssd"}}
	here := corev1.NodeSelectorRequirement{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{"worker-1"}}
	tests := map[string]struct{ own, want []corev1.NodeSelectorTerm }{
		"a pod without rules": {nil, []corev1.NodeSelectorTerm{{MatchFields: []corev1.NodeSelectorRequirement{here}}}},
		"each of several terms": {
			[]corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{ssd}}, {MatchFields: []corev1.NodeSelectorRequirement{here}}},
			[]corev1.NodeSelectorTerm{
				{MatchExpressions: []corev1.NodeSelectorRequirement{ssd}, MatchFields: []corev1.NodeSelectorRequirement{here}},
				{MatchFields: []corev1.NodeSelectorRequirement{here, here}},
			},
		},
		"a term that matches nothing": {[]corev1.NodeSelectorTerm{{}}, []corev1.NodeSelectorTerm{{}}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			template := corev1.PodTemplateSpec{}
			if test.own != nil {
				template.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
					RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: test.own},
				}}
			}
			made := probejob.New(placed(), template).Spec.Template.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
			if diff := cmp.Diff(test.want, made.NodeSelectorTerms); diff != "" {
				t.Errorf("unexpected terms (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNamesAndLabelsFitWhateverTheOwnerAndStepAreCalled(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, name := range []string{"a", "etl.filecomp", strings.Repeat("x", 253), strings.Repeat("x.", 120) + "y"} {
		for _, step := range []string{"alone-1", "alone-2", strings.Repeat("beside-", 12)} {
			o := owner()
			o.Name = name
			made := probejob.Name(o, step)
			if problems := validation.IsDNS1123Label(made); len(problems) > 0 || seen[made] || made != probejob.Name(o, step) {
				t.Errorf("%s of %s is called %q: %v", step, name, made, problems)
			}
			seen[made] = true
			p := placed()
			p.Step = step
			j := probejob.New(p, corev1.PodTemplateSpec{})
			if problems := validation.IsValidLabelValue(j.Labels[probejob.StepKey]); len(problems) > 0 || j.Annotations[probejob.StepKey] != step {
				t.Errorf("the step %s has the label %q: %v", step, j.Labels[probejob.StepKey], problems)
			}
		}
	}
	again := &v1alpha1.NodeProfile{ObjectMeta: metav1.ObjectMeta{Name: "fast", UID: "another-uid"}}
	if probejob.Name(owner(), "cpu") == probejob.Name(again, "cpu") {
		t.Error("an owner that was deleted and made anew has the Job of the one before")
	}
}

func TestAnObjectOfSomebodyElseHasNoOwnerHere(t *testing.T) {
	t.Parallel()
	if kind, name, ok := probejob.Owner(&corev1.Pod{}); ok {
		t.Errorf("the owner is %s %s", kind, name)
	}
}
