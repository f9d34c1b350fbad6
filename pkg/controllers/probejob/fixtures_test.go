package probejob_test

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/controllers/probejob"
)

var noon = metav1.NewTime(time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC))

func settings() *probejob.Settings {
	return &probejob.Settings{Image: "example.test/probe:v1", Memory: resource.MustParse("256Mi"), MaxParallel: 2, Namespace: "loadline"}
}

func owner() *v1alpha1.NodeProfile {
	return &v1alpha1.NodeProfile{ObjectMeta: metav1.ObjectMeta{Name: "fast", UID: "fast-uid"}}
}

// placed is where a Job runs in these tests.
func placed() probejob.Placement {
	return probejob.Placement{
		Owner: owner(), OwnerKind: v1alpha1.GroupVersion.WithKind("NodeProfile"),
		Namespace: "loadline", Name: "fast-cpu", Node: "worker-1", Step: "calibrate-cpu", Deadline: 10 * time.Minute,
	}
}

// job is a Job that was made at noon, and that a manager has attended to until its deadline, although its pod has not begun.
func job(conditions ...batchv1.JobCondition) *batchv1.Job {
	j := probejob.New(placed(), settings().Probe(probejob.Run{Job: "cpu", Intensity: 1, Duration: time.Minute}))
	j.UID, j.CreationTimestamp = "job-uid", noon
	j.Spec.ActiveDeadlineSeconds = new(int64((probejob.BeginWithin + placed().Deadline) / time.Second))
	j.Status.Conditions = conditions
	return j
}

// unattended is that Job where no manager has attended to it since it was made.
func unattended(conditions ...batchv1.JobCondition) *batchv1.Job {
	j := job(conditions...)
	j.Spec.ActiveDeadlineSeconds = new(int64(120))
	return j
}

// begun is that Job where its pod began at once.
func begun() *batchv1.Job {
	j := job()
	j.Spec.ActiveDeadlineSeconds = new(int64(placed().Deadline / time.Second))
	j.Status.StartTime = &noon
	return j
}

// failed is the condition of a Job that has failed.
func failed(reason string) batchv1.JobCondition {
	return batchv1.JobCondition{Type: batchv1.JobFailed, Status: corev1.ConditionTrue, Reason: reason}
}

func complete() batchv1.JobCondition {
	return batchv1.JobCondition{Type: batchv1.JobComplete, Status: corev1.ConditionTrue}
}

// pod is the pod of that Job, made at noon, on worker-1.
func pod(status corev1.PodStatus, change ...func(*corev1.Pod)) corev1.Pod {
	j := job()
	p := corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: j.Namespace, Name: "fast-cpu-x", CreationTimestamp: noon, Annotations: j.Annotations,
			Labels: map[string]string{probejob.MeasurementKey: "fast-uid", batchv1.ControllerUidLabel: string(j.UID)},
			OwnerReferences: []metav1.OwnerReference{
				{APIVersion: "batch/v1", Kind: "Job", Name: j.Name, UID: j.UID, Controller: new(true)},
			},
		},
		Spec:   j.Spec.Template.Spec,
		Status: status,
	}
	p.Spec.NodeName = "worker-1"
	for _, c := range change {
		c(&p)
	}
	return p
}

// container is the status of a pod whose only container is in that state.
func container(phase corev1.PodPhase, state corev1.ContainerState) corev1.PodStatus {
	return corev1.PodStatus{Phase: phase, ContainerStatuses: []corev1.ContainerStatus{{Name: probejob.ProbeContainer, State: state}}}
}

func waiting(reason, message string) corev1.PodStatus {
	return container(corev1.PodPending, corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}})
}

func running() corev1.PodStatus {
	return container(corev1.PodRunning, corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: noon}})
}

func ended(phase corev1.PodPhase, code int32, reason, message string) corev1.PodStatus {
	return container(phase, corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
		ExitCode: code, Reason: reason, Message: message, StartedAt: noon,
	}})
}

func deleted(p *corev1.Pod) { p.DeletionTimestamp = new(noon) }

// deletedAfter deletes a pod some time after noon, with 30 s to end.
func deletedAfter(d time.Duration) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.DeletionTimestamp, p.DeletionGracePeriodSeconds = new(metav1.NewTime(noon.Add(d+30*time.Second))), new(int64(30))
	}
}

// endedAfter is the status of a pod that ended well some time after noon.
func endedAfter(d time.Duration) corev1.PodStatus {
	status := ended(corev1.PodSucceeded, 0, "Completed", "")
	status.ContainerStatuses[0].State.Terminated.FinishedAt = metav1.NewTime(noon.Add(d))
	return status
}

func event(reason, message string) corev1.Event {
	return corev1.Event{Reason: reason, Message: message, LastTimestamp: noon}
}
