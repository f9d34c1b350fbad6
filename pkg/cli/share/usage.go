package share

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/pkg/cgroup"
	"loadline.dev/loadline/pkg/cli/input"
	"loadline.dev/loadline/pkg/cli/verb"
)

// usageOfPods returns how many cores the containers of pods use, as the metrics API
// has it.
func usageOfPods(ctx context.Context, c client.Client, pods []corev1.Pod) (map[cgroup.Container]float64, error) {
	namespaces := map[string]bool{}
	for i := range pods {
		namespaces[pods[i].Namespace] = true
	}
	usage := map[cgroup.Container]float64{}
	for namespace := range namespaces {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(schema.GroupVersionKind{Group: "metrics.k8s.io", Version: "v1beta1", Kind: "PodMetricsList"})
		err := c.List(ctx, list, client.InNamespace(namespace))
		if meta.IsNoMatchError(err) || apierrors.IsNotFound(err) || apierrors.IsServiceUnavailable(err) {
			return nil, errors.New("the cluster has no metrics API (metrics.k8s.io), so how much CPU the pods use is not known: " +
				"install metrics-server, or give it in a file, --usage usage.csv, with the header pod,container,cpu")
		}
		if err != nil {
			return nil, fmt.Errorf("reading the metrics of pods in %s: %w", namespace, err)
		}
		for i := range list.Items {
			if err := addMetrics(usage, &list.Items[i]); err != nil {
				return nil, fmt.Errorf("the metrics of pod %s/%s: %w", namespace, list.Items[i].GetName(), err)
			}
		}
	}
	if !anyOf(usage, pods) {
		return nil, errors.New("the metrics API has no pod of the node (yet): try again in a minute, or give the usage in a file, --usage usage.csv")
	}
	return usage, nil
}

// addMetrics adds the usage of the containers of a PodMetrics.
func addMetrics(usage map[cgroup.Container]float64, metrics *unstructured.Unstructured) error {
	containers, _, err := unstructured.NestedSlice(metrics.Object, "containers")
	if err != nil {
		return err
	}
	for _, item := range containers {
		container, is := item.(map[string]any)
		if !is {
			return fmt.Errorf("containers: %v is no object", item)
		}
		name, _, err := unstructured.NestedString(container, "name")
		if err != nil {
			return err
		}
		text, _, err := unstructured.NestedString(container, "usage", "cpu")
		if err != nil {
			return err
		}
		cpu, err := verb.Number(text, "250m")
		if err != nil {
			return fmt.Errorf("container %s: usage.cpu: %w", name, err)
		}
		usage[cgroup.Container{Namespace: metrics.GetNamespace(), Pod: metrics.GetName(), Name: name}] = cpu.AsApproximateFloat64()
	}
	return nil
}

// anyOf reports whether the usage of any of the pods is known.
func anyOf(usage map[cgroup.Container]float64, pods []corev1.Pod) bool {
	for c := range usage {
		if slices.ContainsFunc(pods, func(p corev1.Pod) bool { return p.Namespace == c.Namespace && p.Name == c.Pod }) {
			return true
		}
	}
	return false
}

// readUsage reads a CSV file with the header pod,container,cpu. A pod is
// NAMESPACE/POD, or a name that one pod has; the container may be empty for a pod
// with a single one.
func readUsage(path string, pods []corev1.Pod) (usage map[cgroup.Container]float64, err error) {
	file, err := os.Open(filepath.Clean(path))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	name := filepath.Base(path)
	rows := csv.NewReader(input.Text(file))
	rows.Comment, rows.TrimLeadingSpace = '#', true
	header, err := rows.Read()
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if !slices.Equal(header, []string{"pod", "container", "cpu"}) {
		return nil, fmt.Errorf("%s: the header is %q; it must be pod,container,cpu", name, strings.Join(header, ","))
	}
	usage = map[cgroup.Container]float64{}
	for {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			return usage, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		line, _ := rows.FieldPos(0)
		container, err := findContainer(row[0], row[1], pods)
		if err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", name, line, err)
		}
		cpu, err := verb.Number(row[2], "250m")
		if err == nil && cpu.Sign() < 0 {
			err = errors.New("is negative")
		}
		if err != nil {
			return nil, fmt.Errorf("%s, line %d: cpu: %w", name, line, err)
		}
		if _, twice := usage[container]; twice {
			return nil, fmt.Errorf("%s, line %d: the container was given before", name, line)
		}
		usage[container] = cpu.AsApproximateFloat64()
	}
}

// findContainer returns the container that is meant.
func findContainer(pod, container string, pods []corev1.Pod) (cgroup.Container, error) {
	var found []cgroup.Container
	known := false
	for i := range pods {
		p := &pods[i]
		if pod != p.Name && pod != p.Namespace+"/"+p.Name {
			continue
		}
		known = true
		cgroup.Build([]*corev1.Pod{p}, cgroup.Options{}).Containers(func(c cgroup.Container) {
			if container == "" || container == c.Name {
				found = append(found, c)
			}
		})
	}
	switch {
	case !known:
		return cgroup.Container{}, fmt.Errorf("pod: there is no pod %q on the node", pod)
	case len(found) == 0:
		return cgroup.Container{}, fmt.Errorf("container: pod %q runs no container %q", pod, container)
	case len(found) > 1:
		first := found[0]
		return first, fmt.Errorf("pod %q, container %q: there are several, such as %s/%s, container %s: say which", pod, container, first.Namespace, first.Pod, first.Name)
	}
	return found[0], nil
}
