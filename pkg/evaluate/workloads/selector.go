package workloads

import (
	"errors"
	"fmt"
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// generated are the labels that controllers give to pods so that they differ.
var generated = []string{
	appsv1.DefaultDeploymentUniqueLabelKey, appsv1.ControllerRevisionHashLabelKey, appsv1.StatefulSetPodNameLabel, appsv1.PodIndexLabel,
	batchv1.JobNameLabel, batchv1.ControllerUidLabel, batchv1.JobCompletionIndexAnnotation, "job-name", "controller-uid", "pod-template-generation",
}

var errNoLabels = errors.New("its pods have no label in common that distinguishes them from others")

// Selector returns the labels that select the pods of a workload, of which there is at least one, and no others of all
// pods. The error says why there are none.
func Selector(pods []*corev1.Pod, all []corev1.Pod) (labels.Set, error) {
	selector := common(pods)
	if len(selector) == 0 {
		return nil, errNoLabels
	}
	if other := otherwise(selector, Of(pods[0]), pods[0].Namespace, all); other != "" {
		return nil, fmt.Errorf("the labels of its pods, %s, select pods of %s, too", selector, other)
	}
	return selector, nil
}

// common returns the labels that all pods have, but for those that controllers give.
func common(pods []*corev1.Pod) labels.Set {
	set := labels.Set(maps.Clone(pods[0].Labels))
	for _, key := range generated {
		delete(set, key)
	}
	for _, p := range pods[1:] {
		maps.DeleteFunc(set, func(key, value string) bool { return p.Labels[key] != value })
	}
	return set
}

// otherwise returns the first other workload of the namespace of which a label selector selects pods, empty if there is
// none.
func otherwise(selector labels.Set, workload, namespace string, all []corev1.Pod) string {
	first := ""
	for i := range all {
		p := &all[i]
		if p.Namespace != namespace || !selector.AsSelector().Matches(labels.Set(p.Labels)) {
			continue
		}
		if other := Of(p); other != workload && (first == "" || other < first) {
			first = other
		}
	}
	return first
}
