package calibration

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/controllers/probejob"
	"loadline.dev/loadline/pkg/probe/result"
)

var noon = metav1.NewTime(time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC))

// fast is a profile whose resources are to be calibrated: cpu and disk unless others
// are given.
func fast(resources ...v1alpha1.ProbedResource) *v1alpha1.NodeProfile {
	if len(resources) == 0 {
		resources = []v1alpha1.ProbedResource{{Name: "cpu"}, {Name: "disk"}}
	}
	return &v1alpha1.NodeProfile{
		ObjectMeta: metav1.ObjectMeta{Name: "fast", UID: "fast-uid", Generation: 1},
		Spec: v1alpha1.NodeProfileSpec{
			Selector:    &metav1.LabelSelector{MatchLabels: map[string]string{"class": "fast"}},
			Calibration: &v1alpha1.Calibration{Resources: resources},
		},
	}
}

func settings() *probejob.Settings {
	return &probejob.Settings{Image: "example.test/probe", Memory: resource.MustParse("256Mi"), MaxParallel: 1, Namespace: "loadline"}
}

// ready is a ready node of the class fast.
func ready(name string) *corev1.Node {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"class": "fast"}}}
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	return n
}

// ask returns the question about a resource of a profile.
func ask(profile *v1alpha1.NodeProfile, name string) *question {
	for _, q := range questions(profile) {
		if q.resource == name {
			return &q
		}
	}
	return nil
}

// calibrated is a result on worker-1 at some time, no servers for 0.
func calibrated(q *question, servers int32, at metav1.Time) v1alpha1.CalibratedResource {
	r := v1alpha1.CalibratedResource{
		Name: q.resource, Job: q.job, Dilation: quantity(2), DilationError: quantity(0.05), UnitsPerSecond: quantity(5000),
		Node: "worker-1", Time: &at, Question: q.id(),
	}
	if servers > 0 {
		r.Servers = &servers
	} else {
		r.Dilation = quantity(1.3)
	}
	return r
}

// left is the output of a calibration's pod that found servers, none for 0.
func left(t *testing.T, job string, servers int) string {
	t.Helper()
	c := result.Calibration{Job: job, BootID: "boot", Servers: servers, UnitsPerSecond: 5000, Dilation: 2, DilationError: 0.05}
	if servers == 0 {
		c.Dilation = 1.3
	}
	text, err := result.Encode(c)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// begun is the input while the resource is calibrated on worker-1 since noon.
func begun(name string, attempt int32, profile *v1alpha1.NodeProfile) *input {
	profile.Status.Calibrating = &v1alpha1.CalibrationProgress{Resource: name, Node: "worker-1", StartTime: new(noon), Attempts: new(attempt)}
	q := ask(profile, name)
	return &input{
		profile: profile, settings: settings(), now: metav1.NewTime(noon.Add(time.Minute)), node: ready("worker-1"),
		jobs: []batchv1.Job{*jobOf(profile, q, attempt)},
	}
}

func jobOf(profile *v1alpha1.NodeProfile, q *question, attempt int32) *batchv1.Job {
	return &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "loadline", Name: q.jobName(profile, attempt)}}
}
