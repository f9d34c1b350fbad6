package made

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const mark = "loadline.dev/measurement"

// owned is the metadata of an object that something controls.
func owned(apiVersion, kind string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: "shop", Name: "x", UID: "x-uid", ResourceVersion: "7",
		Labels:      map[string]string{mark: "uid", "app": "web"},
		Annotations: map[string]string{mark: "NodeProfile/fast", "note": strings.Repeat("x", 1000)},
		OwnerReferences: []metav1.OwnerReference{
			{APIVersion: "v1", Kind: "ConfigMap", Name: "other"}, {APIVersion: apiVersion, Kind: kind, Name: "owner", UID: "owner-uid", Controller: new(true)},
		},
	}
}

func trimmed[T any](t *testing.T, object T) T {
	t.Helper()
	out, err := keys{mark}.trim(object)
	if err != nil {
		t.Fatal(err)
	}
	result, is := out.(T)
	if !is {
		t.Fatalf("it has become a %T", out)
	}
	return result
}

func TestOfWhatControllersMadeOnlyWhatTheyReadIsKept(t *testing.T) {
	t.Parallel()
	want := owned("loadline.dev/v1alpha1", "WorkloadProfile")
	want.Labels, want.Annotations, want.OwnerReferences = map[string]string{mark: "uid"}, map[string]string{mark: "NodeProfile/fast"}, want.OwnerReferences[1:]
	job := trimmed(t, &batchv1.Job{ObjectMeta: owned("loadline.dev/v1alpha1", "WorkloadProfile"), Spec: batchv1.JobSpec{
		ActiveDeadlineSeconds: new(int64(60)), Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main"}}}},
	}})
	if diff := cmp.Diff(want, job.ObjectMeta); diff != "" || *job.Spec.ActiveDeadlineSeconds != 60 || job.Spec.Template.Spec.Containers != nil {
		t.Errorf("the Job is %+v (-want +got):\n%s", job.Spec, diff)
	}
	want.OwnerReferences = owned("batch/v1", "Job").OwnerReferences[1:]
	pod := trimmed(t, &corev1.Pod{
		ObjectMeta: owned("batch/v1", "Job"), Status: corev1.PodStatus{Phase: corev1.PodRunning},
		Spec: corev1.PodSpec{NodeName: "n", Containers: []corev1.Container{{Name: "main", Image: "i", Args: []string{"x"}, Env: []corev1.EnvVar{{Name: "E"}}}}},
	})
	if diff := cmp.Diff(want, pod.ObjectMeta); diff != "" {
		t.Errorf("unexpected metadata of the pod (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(corev1.PodSpec{NodeName: "n", Containers: []corev1.Container{{Name: "main", Image: "i"}}, InitContainers: []corev1.Container{}}, pod.Spec); diff != "" || pod.Status.Phase != corev1.PodRunning {
		t.Errorf("the phase is %s, and the spec (-want +got):\n%s", pod.Status.Phase, diff)
	}
}

func TestWhatOthersLabelledIsNotFoundByItsLabel(t *testing.T) {
	t.Parallel()
	bare := metav1.ObjectMeta{Namespace: "shop", Name: "x", UID: "x-uid", ResourceVersion: "7"}
	unowned := owned("", "")
	unowned.OwnerReferences = nil
	uncontrolled := owned("batch/v1", "Job")
	uncontrolled.OwnerReferences[1].Controller = nil
	for name, got := range map[string]metav1.ObjectMeta{
		"a Job of no one":             trimmed(t, &batchv1.Job{ObjectMeta: unowned}).ObjectMeta,
		"a Job of a CronJob":          trimmed(t, &batchv1.Job{ObjectMeta: owned("batch/v1", "CronJob")}).ObjectMeta,
		"a Job of a group like ours":  trimmed(t, &batchv1.Job{ObjectMeta: owned("loadline.dev.example.com/v1", "WorkloadProfile")}).ObjectMeta,
		"a Job of a strange version":  trimmed(t, &batchv1.Job{ObjectMeta: owned("a/b/c", "WorkloadProfile")}).ObjectMeta,
		"a pod of no one":             trimmed(t, &corev1.Pod{ObjectMeta: unowned}).ObjectMeta,
		"a pod of a ReplicaSet":       trimmed(t, &corev1.Pod{ObjectMeta: owned("apps/v1", "ReplicaSet")}).ObjectMeta,
		"a pod that a Job owns alone": trimmed(t, &corev1.Pod{ObjectMeta: uncontrolled}).ObjectMeta,
	} {
		if diff := cmp.Diff(bare, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestAnAnnotationThatNoControllerWritesIsNotKept(t *testing.T) {
	t.Parallel()
	meta := owned("loadline.dev/v1alpha1", "WorkloadProfile")
	meta.Annotations[mark] = strings.Repeat("x", 20_000)
	if got := trimmed(t, &batchv1.Job{ObjectMeta: meta}).Annotations; len(got) > 0 {
		t.Errorf("%d annotations are kept", len(got))
	}
}

func TestOnlyNamesThatObjectsCanHaveAreAskedFor(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", ".", "..", "a/b", "A", "a b", "a%2fb", "-", strings.Repeat("a", 254), "a\n"} {
		if got := Requests("shop", name); got != nil {
			t.Errorf("%q: %v", name, got)
		}
	}
	if got := Requests("shop", "week.1"); len(got) != 1 || got[0].String() != "shop/week.1" {
		t.Errorf("unexpected requests: %v", got)
	}
}
