package integration

import (
	"context"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/controllers/jobstatus"
	"loadline.dev/loadline/pkg/controllers/probejob"
)

// The real controllers of Jobs end and remove the Job of a profile that stays, as one does
// when Loadline is uninstalled in the middle of a measurement. Only time is shortened. On the
// shared control plane the managers of other tests would remove the Job, because its profile is
// not to be measured.
func TestAJobWithoutAManagerEndsAndGoes(t *testing.T) {
	t.Parallel()
	p := ownEnvironment(t).newPlace(t, 1)
	profile := p.profile("filecomp", map[string]string{"cpu": "0.1"})
	must(t, p.Create(t.Context(), profile))
	create := func(step string) *batchv1.Job {
		job := probejob.New(probejob.Placement{
			Owner: profile, OwnerKind: v1alpha1.GroupVersion.WithKind("WorkloadProfile"),
			Namespace: p.namespace, Name: probejob.Name(profile, step), Node: p.nodes[0], Step: step, Deadline: 24 * time.Hour,
		}, corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "example.test/main"}}}})
		must(t, probejob.Apply(t.Context(), p, job, "test"))
		return job
	}
	await := func(job *batchv1.Job, what string, done func(error) bool) {
		t.Helper()
		err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, 2*time.Minute, true, func(ctx context.Context) (bool, error) {
			return done(p.Get(ctx, client.ObjectKeyFromObject(job), job)), nil
		})
		if err != nil {
			pods := &corev1.PodList{}
			must(t, p.List(t.Context(), pods, client.InNamespace(p.namespace)))
			state, marshalErr := yaml.Marshal([]any{job, pods})
			must(t, marshalErr)
			t.Fatalf("%s: %v; the Job and the pods are\n%s", what, err, state)
		}
	}
	edit := func(job *batchv1.Job, change func(*batchv1.JobSpec)) {
		t.Helper()
		before := job.DeepCopy()
		change(&job.Spec)
		must(t, p.Patch(t.Context(), job, client.MergeFrom(before)))
	}

	attended := create("attended")
	await(attended, "it begins", func(err error) bool { return err == nil && attended.Status.StartTime != nil })
	must(t, probejob.Attend(t.Context(), p, attended, time.Time{}, attended.Status.StartTime.Add(100*time.Second), "test"))
	must(t, p.Get(t.Context(), client.ObjectKeyFromObject(attended), attended))
	if got := *attended.Spec.ActiveDeadlineSeconds; got != 220 {
		t.Errorf("after 100 s the Job that is attended to may run for %d s, want 220", got)
	}

	alone := create("alone")
	await(alone, "its pod is made", func(err error) bool { return err == nil && alone.Status.Active == 1 })
	edit(alone, func(spec *batchv1.JobSpec) { spec.ActiveDeadlineSeconds = new(int64(1)) })
	await(alone, "it ends", func(err error) bool { return err == nil && jobstatus.Finished(alone) })
	if o := probejob.Inspect(alone, nil, nil, time.Now()); o.Reason != probejob.ReasonUnattended || !o.Retry(0) {
		t.Errorf("the Job that no manager attends to is %v, %s: %s", o.State, o.Reason, o.Message)
	}
	edit(alone, func(spec *batchv1.JobSpec) { spec.TTLSecondsAfterFinished = new(int32(0)) })
	await(alone, "it goes", apierrors.IsNotFound)
}
