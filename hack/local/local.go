// Package local runs Loadline's programs, and a Prometheus, on this machine
// against a control plane, for demonstrations, experiments and the tests against
// a real API server. hack/cluster provides the control plane.
package local

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

// NewClient returns a client for Kubernetes' and Loadline's types.
func NewClient(config *rest.Config) (client.WithWatch, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	return client.NewWithWatch(config, client.Options{Scheme: scheme})
}

// Root returns the root folder of the repository that the working directory is
// in.
func Root(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "loadline.dev/loadline").Output()
	if err != nil {
		return "", fmt.Errorf("finding the repository: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

// InstallCRDs installs Loadline's resource definitions and waits until the API
// server serves them.
func InstallCRDs(config *rest.Config, root string) error {
	_, err := envtest.InstallCRDs(config, envtest.CRDInstallOptions{
		Paths:              []string{filepath.Join(root, "config", "crd")},
		ErrorIfPathMissing: true,
		MaxTime:            30 * time.Second,
		PollInterval:       50 * time.Millisecond,
	})
	if err != nil {
		return fmt.Errorf("installing the resource definitions: %w", err)
	}
	return nil
}

// Build builds the named command of the repository into a folder and returns
// its path.
func Build(ctx context.Context, root, dir, name string) (string, error) {
	path := filepath.Join(dir, name)
	build := exec.CommandContext(ctx, "go", "build", "-o", path, "./cmd/"+name)
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building %s: %w\n%s", name, err, out)
	}
	return path, nil
}

// AwaitPods watches the pods of a namespace until done says so, and returns
// them as they are then.
func AwaitPods(ctx context.Context, c client.WithWatch, namespace string, done func(map[string]*corev1.Pod) bool) (map[string]*corev1.Pod, error) {
	pods := map[string]*corev1.Pod{}
	for {
		finished, err := followPods(ctx, c, namespace, pods, done)
		if finished || ctx.Err() != nil {
			return pods, ctx.Err()
		}
		if err != nil { // the server is away: list again
			select {
			case <-ctx.Done():
			case <-time.After(100 * time.Millisecond):
			}
		}
	}
}

// followPods lists and watches once, until done or until the watch ends.
func followPods(ctx context.Context, c client.WithWatch, namespace string, pods map[string]*corev1.Pod, done func(map[string]*corev1.Pod) bool) (bool, error) {
	var list corev1.PodList
	if err := c.List(ctx, &list, client.InNamespace(namespace)); err != nil {
		return false, err
	}
	clear(pods)
	for i := range list.Items {
		pods[list.Items[i].Name] = &list.Items[i]
	}
	if done(pods) {
		return true, nil
	}
	watcher, err := c.Watch(ctx, &corev1.PodList{}, client.InNamespace(namespace),
		&client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: list.ResourceVersion}})
	if err != nil {
		return false, err
	}
	defer watcher.Stop()
	for event := range watcher.ResultChan() {
		pod, ok := event.Object.(*corev1.Pod)
		if !ok {
			return false, fmt.Errorf("watching pods: %v", event.Object)
		}
		if event.Type == "DELETED" {
			delete(pods, pod.Name)
		} else {
			pods[pod.Name] = pod
		}
		if done(pods) {
			return true, nil
		}
	}
	return false, nil
}

// AllBound returns a condition for [AwaitPods]: n pods, each on a node.
func AllBound(n int) func(map[string]*corev1.Pod) bool {
	return func(pods map[string]*corev1.Pod) bool {
		if len(pods) != n {
			return false
		}
		for _, pod := range pods {
			if pod.Spec.NodeName == "" {
				return false
			}
		}
		return true
	}
}
