package tracereplay

import (
	"path"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

// Worker describes the containers that carry out the runs.
type Worker struct {
	// Image is the container image; it has kubectl-loadline on its PATH.
	Image string
	// CPU and Memory are the requests and limits of each run.
	CPU, Memory resource.Quantity
	// MaxParallelism is how many runs of a replay go on at once at most, at least 1.
	MaxParallelism int32
	// Timeout is how long a replay may take from its first run on, at least a second.
	Timeout time.Duration
	// AnyUser leaves the user and the groups of the pods to the cluster, as OpenShift's restricted-v2 requires.
	AnyUser bool
}

// What a pod looks like from inside.
const (
	containerName = "replay"
	// questionDir holds questionFile and runsFile.
	questionDir = "/etc/loadline/replay"
	runsFile    = "runs"
	traceDir    = "/etc/loadline/trace"
	outputDir   = "/var/lib/loadline/output"
	// nonRoot is the user and group of the pods.
	nonRoot = 65532
)

// exitBadInput is the exit code of a run that can never end well.
const exitBadInput = 2

// defaultParallelism is how many runs go on at once unless the spec says so.
const defaultParallelism = 4

// retries is how often a run is tried again after a failure that was not for
// bad input.
const retries = 2

// kept is for how many seconds a Job stays that has ended, should no manager delete it: its
// pods have the results, which one that was away for a day can still read.
const kept = 86_400

// job returns the Job that carries out some runs in the time that is left, at least a second.
func (w *Worker) job(replay *v1alpha1.TraceReplay, round int, runs []int, left time.Duration) *batchv1.Job {
	meta := metadata(replay, jobName(replay.Name, round))
	parallelism := int32(defaultParallelism)
	if p := replay.Spec.Parallelism; p != nil {
		parallelism = *p
	}
	return &batchv1.Job{
		ObjectMeta: meta,
		Spec: batchv1.JobSpec{
			CompletionMode:       new(batchv1.IndexedCompletion),
			Completions:          new(int32(len(runs))),
			Parallelism:          new(min(parallelism, w.MaxParallelism, int32(len(runs)))),
			BackoffLimitPerIndex: new(int32(retries)),
			// Runs end, also those that would not.
			ActiveDeadlineSeconds:   new(int64(left / time.Second)),
			TTLSecondsAfterFinished: new(int32(kept)),
			PodFailurePolicy: &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{
				{ // an evicted run did not fail
					Action: batchv1.PodFailurePolicyActionIgnore,
					OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{
						{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue},
					},
				},
				{ // bad input stays bad
					Action: batchv1.PodFailurePolicyActionFailIndex,
					OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{
						ContainerName: new(containerName), Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{exitBadInput},
					},
				},
			}},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{
					Labels:      meta.Labels,
					Annotations: map[string]string{replayKey: replay.Name, runsKey: formatRuns(runs)},
				},
				Spec: w.pod(replay),
			},
		},
	}
}

// pod returns a pod that keeps to the restricted security standard and has no
// access to the API.
func (w *Worker) pod(replay *v1alpha1.TraceReplay) corev1.PodSpec {
	resources := corev1.ResourceList{corev1.ResourceCPU: w.CPU, corev1.ResourceMemory: w.Memory}
	spec := corev1.PodSpec{
		RestartPolicy:                corev1.RestartPolicyNever,
		AutomountServiceAccountToken: new(false),
		EnableServiceLinks:           new(false),
		SecurityContext: &corev1.PodSecurityContext{
			RunAsNonRoot:   new(true),
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
		Containers: []corev1.Container{{
			Name:  containerName,
			Image: w.Image,
			Command: []string{
				"kubectl-loadline", "replay", "--filename", path.Join(questionDir, questionFile),
				"--worker-runs", path.Join(questionDir, runsFile),
				"--worker-index", "$(JOB_COMPLETION_INDEX)",
				"--worker-result", corev1.TerminationMessagePathDefault,
			},
			Resources: corev1.ResourceRequirements{Requests: resources, Limits: resources},
			SecurityContext: &corev1.SecurityContext{
				AllowPrivilegeEscalation: new(false),
				ReadOnlyRootFilesystem:   new(true),
				Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
			},
			// A run that fails says why on its standard error.
			TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
		}},
	}
	if !w.AnyUser {
		spec.SecurityContext.RunAsUser, spec.SecurityContext.RunAsGroup = new(int64(nonRoot)), new(int64(nonRoot))
	}
	mount(&spec, "question", questionDir, questionVolume(replay))
	if trace := replay.Spec.Trace; trace != nil {
		file, volume := traceVolume(trace)
		mount(&spec, "trace", traceDir, volume)
		spec.Containers[0].Command = append(spec.Containers[0].Command, "--trace", path.Join(traceDir, file))
	}
	if output := replay.Spec.Output; output != nil {
		claim := output.PersistentVolumeClaim
		mount(&spec, "output", outputDir, corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim.ClaimName},
		})
		spec.Containers[0].VolumeMounts[len(spec.Containers[0].VolumeMounts)-1].ReadOnly = false
		spec.Containers[0].Command = append(spec.Containers[0].Command, "--jobs-to", path.Join(outputDir, claim.Path))
		if !w.AnyUser {
			spec.SecurityContext.FSGroup = new(int64(nonRoot))
		}
		spec.SecurityContext.FSGroupChangePolicy = new(corev1.FSGroupChangeOnRootMismatch)
	}
	return spec
}

// mount adds a volume to a pod and mounts it, read-only.
func mount(spec *corev1.PodSpec, name, dir string, source corev1.VolumeSource) {
	spec.Volumes = append(spec.Volumes, corev1.Volume{Name: name, VolumeSource: source})
	container := &spec.Containers[0]
	container.VolumeMounts = append(container.VolumeMounts, corev1.VolumeMount{Name: name, MountPath: dir, ReadOnly: true})
}

// questionVolume holds the question and the list of the Job's runs.
func questionVolume(replay *v1alpha1.TraceReplay) corev1.VolumeSource {
	return corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
		{ConfigMap: &corev1.ConfigMapProjection{
			LocalObjectReference: corev1.LocalObjectReference{Name: questionName(replay.Name)},
			Items:                []corev1.KeyToPath{{Key: questionFile, Path: questionFile}},
		}},
		{DownwardAPI: &corev1.DownwardAPIProjection{Items: []corev1.DownwardAPIVolumeFile{{
			Path:     runsFile,
			FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.annotations['" + runsKey + "']"},
		}}}},
	}}}
}

// traceVolume returns the volume that holds a trace, and the file's path there.
func traceVolume(trace *v1alpha1.ReplayTrace) (string, corev1.VolumeSource) {
	if c := trace.PersistentVolumeClaim; c != nil {
		return c.Path, corev1.VolumeSource{
			// Read-only also keeps the kubelet from changing the files' owner.
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: c.ClaimName, ReadOnly: true},
		}
	}
	return trace.ConfigMap.Key, corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
		LocalObjectReference: corev1.LocalObjectReference{Name: trace.ConfigMap.Name},
		Items:                []corev1.KeyToPath{{Key: trace.ConfigMap.Key, Path: trace.ConfigMap.Key}},
	}}
}
