package kubelet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kubernetes/pkg/fieldpath"
	"k8s.io/kubernetes/third_party/forked/golang/expansion"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Limits of a termination message, in bytes, as the kubelet has them.
const (
	maxTerminationMessage = 4096
	maxLogMessage         = 2048
)

// gone reports whether an error is about a pod that is there no more.
func gone(err error) bool { return apierrors.IsNotFound(err) || apierrors.IsConflict(err) }

// runPod runs the container of a pod and keeps the pod's status.
func (k *Kubelet) runPod(ctx context.Context, pod *corev1.Pod) error {
	dir := filepath.Join(k.options.Dir, "pods", string(pod.UID))
	process, message, err := k.prepare(ctx, pod, dir)
	if err != nil {
		return err
	}
	if k.options.Before != nil {
		k.options.Before(ctx, pod)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	var logs bytes.Buffer
	process.Stdout, process.Stderr = &logs, &logs
	began := metav1.Now()
	running := corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: began}}
	if err := k.setStatus(ctx, pod, corev1.PodRunning, running); err != nil {
		return err
	}
	k.started(pod)
	err = process.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return err
	}
	left, err := os.ReadFile(message)
	if err != nil {
		return err
	}
	end := &corev1.ContainerStateTerminated{
		ExitCode: int32(process.ProcessState.ExitCode()), Reason: "Completed", StartedAt: began, FinishedAt: metav1.Now(),
		Message: string(left[:min(len(left), maxTerminationMessage)]),
	}
	phase := corev1.PodSucceeded
	if end.ExitCode != 0 {
		phase, end.Reason = corev1.PodFailed, "Error"
		if end.Message == "" && pod.Spec.Containers[0].TerminationMessagePolicy == corev1.TerminationMessageFallbackToLogsOnError {
			end.Message = string(logs.Bytes()[max(0, logs.Len()-maxLogMessage):])
		}
	}
	return k.setStatus(ctx, pod, phase, corev1.ContainerState{Terminated: end})
}

func (k *Kubelet) setStatus(ctx context.Context, pod *corev1.Pod, phase corev1.PodPhase, state corev1.ContainerState) error {
	before := pod.DeepCopy()
	pod.Status.Phase = phase
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: pod.Spec.Containers[0].Name, Image: pod.Spec.Containers[0].Image, State: state, Ready: state.Running != nil,
	}}
	return k.client.Status().Patch(ctx, pod, client.MergeFrom(before))
}

// prepare makes the files that a pod sees and the process of its container.
// message is where the latter leaves its termination message.
func (k *Kubelet) prepare(ctx context.Context, pod *corev1.Pod, dir string) (process *exec.Cmd, message string, err error) {
	container := &pod.Spec.Containers[0]
	message = filepath.Join(dir, "termination-log")
	if err := writeFile(message, nil); err != nil {
		return nil, "", err
	}
	volumes := map[string]string{}
	for _, v := range pod.Spec.Volumes {
		if volumes[v.Name], err = k.materialize(ctx, pod, v, filepath.Join(dir, v.Name)); err != nil {
			return nil, "", fmt.Errorf("volume %s: %w", v.Name, err)
		}
	}
	paths := []string{container.TerminationMessagePath, message}
	for _, m := range container.VolumeMounts {
		paths = append(paths, m.MountPath, volumes[m.Name])
	}
	environment, err := variables(pod, container)
	if err != nil {
		return nil, "", err
	}
	var command []string
	for _, argument := range slices.Concat(container.Command, container.Args) {
		argument = expansion.Expand(argument, expansion.MappingFuncFor(environment))
		command = append(command, strings.NewReplacer(paths...).Replace(argument))
	}
	path, known := k.options.Commands[command[0]]
	if !known {
		return nil, "", fmt.Errorf("the command %q is none of %v", command[0], k.options.Commands)
	}
	process = exec.CommandContext(ctx, path, command[1:]...)
	for name, value := range environment {
		process.Env = append(process.Env, name+"="+value)
	}
	return process, message, nil
}

// variables returns the environment of a container.
func variables(pod *corev1.Pod, container *corev1.Container) (map[string]string, error) {
	environment := map[string]string{}
	for _, e := range container.Env {
		environment[e.Name] = e.Value
		if e.ValueFrom != nil && e.ValueFrom.FieldRef != nil {
			value, err := fieldpath.ExtractFieldPathAsString(pod, e.ValueFrom.FieldRef.FieldPath)
			if err != nil {
				return nil, err
			}
			environment[e.Name] = value
		}
	}
	return environment, nil
}

// materialize makes a volume and returns its folder.
func (k *Kubelet) materialize(ctx context.Context, pod *corev1.Pod, v corev1.Volume, dir string) (string, error) {
	switch {
	case v.PersistentVolumeClaim != nil:
		return k.Claim(v.PersistentVolumeClaim.ClaimName)
	case v.ConfigMap != nil:
		return dir, k.project(ctx, pod, dir, corev1.VolumeProjection{
			ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: v.ConfigMap.LocalObjectReference, Items: v.ConfigMap.Items},
		})
	case v.Projected != nil:
		for _, source := range v.Projected.Sources {
			if err := k.project(ctx, pod, dir, source); err != nil {
				return "", err
			}
		}
		return dir, nil
	case v.EmptyDir != nil:
		return dir, os.MkdirAll(dir, 0o755)
	default:
		return "", errors.New("its kind is not known here")
	}
}

// project writes the files of a source into a folder.
func (k *Kubelet) project(ctx context.Context, pod *corev1.Pod, dir string, source corev1.VolumeProjection) error {
	if d := source.DownwardAPI; d != nil {
		for _, item := range d.Items {
			value, err := fieldpath.ExtractFieldPathAsString(pod, item.FieldRef.FieldPath)
			if err != nil {
				return err
			}
			if err := writeFile(filepath.Join(dir, item.Path), []byte(value)); err != nil {
				return err
			}
		}
	}
	if source.ConfigMap == nil {
		return nil
	}
	var from corev1.ConfigMap
	if err := k.client.Get(ctx, types.NamespacedName{Namespace: pod.Namespace, Name: source.ConfigMap.Name}, &from); err != nil {
		return err
	}
	for _, item := range source.ConfigMap.Items {
		content, found := from.BinaryData[item.Key]
		if text, plain := from.Data[item.Key]; plain {
			content, found = []byte(text), true
		}
		if !found {
			return fmt.Errorf("ConfigMap %s has no key %s", from.Name, item.Key)
		}
		if err := writeFile(filepath.Join(dir, item.Path), content); err != nil {
			return err
		}
	}
	return nil
}

func writeFile(path string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, content, 0o644)
}
