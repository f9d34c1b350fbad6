package start

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/hack/experiments/job"
	"loadline.dev/loadline/hack/local"
	"loadline.dev/loadline/pkg/probe/result"
)

const (
	// JobLabel is the label with the kind of a job.
	JobLabel = "demo.loadline.dev/job"
	userID   = 65532
)

// Template is a pod that runs a command. All weigh the same.
func Template(kind string, command []string) corev1.PodTemplateSpec {
	memory := resource.MustParse("128Mi")
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{JobLabel: kind}},
		Spec: corev1.PodSpec{
			RestartPolicy:                 corev1.RestartPolicyNever,
			AutomountServiceAccountToken:  new(false),
			TerminationGracePeriodSeconds: new(int64(1)),
			Containers: []corev1.Container{{
				Name:    "job",
				Image:   "loadline/" + command[0] + ":dev",
				Command: command,
				Resources: corev1.ResourceRequirements{
					Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: memory},
					Limits:   corev1.ResourceList{corev1.ResourceMemory: memory},
				},
				SecurityContext: &corev1.SecurityContext{
					RunAsNonRoot: new(true), RunAsUser: new(int64(userID)), RunAsGroup: new(int64(userID)),
					AllowPrivilegeEscalation: new(false), ReadOnlyRootFilesystem: new(true),
					Capabilities:   &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
					SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
				},
				TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
				VolumeMounts:             []corev1.VolumeMount{{Name: "scratch", MountPath: job.Scratch}},
			}},
			Volumes: []corev1.Volume{{Name: "scratch", VolumeSource: corev1.VolumeSource{
				EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: new(resource.MustParse("512Mi"))},
			}}},
		},
	}
}

// Placed is a pod on a node, past all schedulers.
func Placed(name, node, kind string, command []string) *corev1.Pod {
	t := Template(kind, command)
	t.Spec.NodeName = node
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: name, Labels: t.Labels}, Spec: t.Spec}
}

// RunJobs runs jobs on nodes, at the same time, sized by the speeds of a node, and returns what each did.
func (s *Session) RunJobs(ctx context.Context, speeds job.Speeds, jobs []job.Job, nodes ...string) ([]result.Load, error) {
	pods := make([]*corev1.Pod, len(jobs))
	for i, j := range jobs {
		pods[i] = Placed(fmt.Sprintf("%s-%d", j.Name, i+1), nodes[i%len(nodes)], j.Name, j.Command(speeds, s.Device))
	}
	messages, err := s.RunPods(ctx, pods)
	if err != nil {
		return nil, err
	}
	loads := make([]result.Load, len(jobs))
	for i, message := range messages {
		if loads[i], err = result.ParseLoad(message); err != nil {
			return nil, fmt.Errorf("pod %s: %w", pods[i].Name, err)
		}
	}
	return loads, nil
}

// RunPods runs pods until all have ended, removes them, and returns the last word of
// each.
func (s *Session) RunPods(ctx context.Context, pods []*corev1.Pod) ([]string, error) {
	group, creating := errgroup.WithContext(ctx)
	for _, pod := range pods {
		group.Go(func() error { return s.Create(creating, pod) })
	}
	err := group.Wait()
	var messages []string
	if err == nil {
		messages, err = s.AwaitEnded(ctx, pods)
	}
	var removing errgroup.Group
	for _, pod := range pods {
		removing.Go(func() error { return s.Remove(context.WithoutCancel(ctx), pod) })
	}
	return messages, errors.Join(err, removing.Wait())
}

// AwaitEnded waits until all pods have ended well, or one has not, and returns the last word of each.
func (s *Session) AwaitEnded(ctx context.Context, pods []*corev1.Pod) ([]string, error) {
	ended := map[string]string{}
	var failed error
	_, err := local.AwaitPods(ctx, s, Namespace, func(all map[string]*corev1.Pod) bool {
		for _, pod := range pods {
			if now := all[pod.Name]; now != nil {
				switch message := LastWord(now); now.Status.Phase {
				case corev1.PodSucceeded:
					ended[pod.Name] = message
				case corev1.PodFailed:
					failed = fmt.Errorf("pod %s failed: %s %s", pod.Name, now.Status.Message, message)
				default:
				}
			}
		}
		return failed != nil || len(ended) == len(pods)
	})
	if err := errors.Join(failed, err); err != nil {
		return nil, fmt.Errorf("waiting for %d pods, of which %v have ended: %w", len(pods), slices.Sorted(maps.Keys(ended)), err)
	}
	messages := make([]string, len(pods))
	for i, pod := range pods {
		messages[i] = ended[pod.Name]
	}
	return messages, nil
}

// LastWord is the termination message of the container of a pod.
func LastWord(pod *corev1.Pod) string {
	for i := range pod.Status.ContainerStatuses {
		if t := pod.Status.ContainerStatuses[i].State.Terminated; t != nil {
			return t.Message
		}
	}
	return ""
}

// awaitRunning waits until a pod runs.
func (s *Session) awaitRunning(ctx context.Context, pod *corev1.Pod) error {
	return until(ctx, "pod "+pod.Name+" to run", func(ctx context.Context) (bool, error) {
		if err := s.Get(ctx, client.ObjectKeyFromObject(pod), pod); err != nil {
			return false, err
		}
		if pod.Status.Phase == corev1.PodFailed {
			return false, fmt.Errorf("it failed: %s", LastWord(pod))
		}
		return pod.Status.Phase != corev1.PodPending, nil
	})
}
