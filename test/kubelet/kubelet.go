// Package kubelet is a node whose pods are local processes, for tests of what
// kwok's nodes cannot do: run something.
//
// It supports pods with one container, volumes from ConfigMaps, claims and the
// downward API, and termination messages. There are no namespaces, no images and
// no limits: a program sees the files of its mounts wherever an argument names a
// path below them.
package kubelet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Options say what a Kubelet runs.
type Options struct {
	// Node is the name of the node, which it creates.
	Node string
	// Namespace is that of the pods that it runs, all of them: it is their
	// scheduler too.
	Namespace string
	// Dir is an empty folder for volumes.
	Dir string
	// Commands are the paths of the programs that pods may run, by the name
	// that stands first in a container's command.
	Commands map[string]string
	// Before, if set, is called before a pod's process starts, which waits for
	// it to return. It should return when the context is done, which happens
	// when the pod is deleted.
	Before func(ctx context.Context, pod *corev1.Pod)
}

// Kubelet is a node that runs pods.
type Kubelet struct {
	client  client.WithWatch
	options Options
	cancel  context.CancelFunc
	ended   chan struct{}

	mu     sync.Mutex
	pods   map[types.UID]context.CancelFunc // running
	starts []string
	errs   []error
}

// Start creates the node and begins to run pods. The caller ends it with Stop.
func Start(ctx context.Context, c client.WithWatch, options Options) (*Kubelet, error) {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: options.Node}}
	if err := c.Create(ctx, node); err != nil {
		return nil, fmt.Errorf("creating node %s: %w", options.Node, err)
	}
	ctx, cancel := context.WithCancel(ctx)
	k := &Kubelet{client: c, options: options, cancel: cancel, ended: make(chan struct{}), pods: map[types.UID]context.CancelFunc{}}
	go k.run(ctx)
	return k, nil
}

// Stop ends all processes and returns what went wrong since the start.
func (k *Kubelet) Stop() error {
	k.cancel()
	<-k.ended
	return errors.Join(k.errs...)
}

// Starts lists the pods of which a process was started, in that order.
func (k *Kubelet) Starts() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return append([]string(nil), k.starts...)
}

// Claim returns the folder that stands for the volume of a
// PersistentVolumeClaim, and makes it if need be.
func (k *Kubelet) Claim(name string) (string, error) {
	dir := filepath.Join(k.options.Dir, "claims", name)
	return dir, os.MkdirAll(dir, 0o755)
}

// run follows the pods until the context is done, and then waits for their
// processes.
func (k *Kubelet) run(ctx context.Context) {
	defer close(k.ended)
	var pods sync.WaitGroup
	defer pods.Wait()
	for ctx.Err() == nil {
		if err := k.follow(ctx, &pods); err != nil && ctx.Err() == nil {
			k.fail(err)
		}
		select { // the server is away, or the watch has ended
		case <-ctx.Done():
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// follow lists and watches once, until the watch ends.
func (k *Kubelet) follow(ctx context.Context, pods *sync.WaitGroup) error {
	var list corev1.PodList
	if err := k.client.List(ctx, &list, client.InNamespace(k.options.Namespace)); err != nil {
		return err
	}
	for i := range list.Items {
		k.see(ctx, &list.Items[i], pods)
	}
	watcher, err := k.client.Watch(ctx, &corev1.PodList{}, client.InNamespace(k.options.Namespace),
		&client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: list.ResourceVersion}})
	if err != nil {
		return err
	}
	defer watcher.Stop()
	for event := range watcher.ResultChan() {
		pod, ok := event.Object.(*corev1.Pod)
		switch {
		case !ok:
			return fmt.Errorf("watching pods: %v", event.Object)
		case event.Type == watch.Deleted:
			k.end(pod.UID)
		default:
			k.see(ctx, pod, pods)
		}
	}
	return nil
}

// see does what a pod as it is now asks for.
func (k *Kubelet) see(ctx context.Context, pod *corev1.Pod, pods *sync.WaitGroup) {
	var err error
	switch {
	case pod.DeletionTimestamp != nil:
		k.end(pod.UID)
		err = k.client.Delete(ctx, pod, client.GracePeriodSeconds(0), client.Preconditions{UID: &pod.UID})
	case pod.Spec.NodeName == "":
		binding := &corev1.Binding{Target: corev1.ObjectReference{Kind: "Node", Name: k.options.Node}}
		err = k.client.SubResource("binding").Create(ctx, pod, binding)
	case pod.Spec.NodeName == k.options.Node && pod.Status.Phase == corev1.PodPending:
		k.begin(ctx, pod, pods)
	}
	if err != nil && ctx.Err() == nil && !gone(err) {
		k.fail(fmt.Errorf("pod %s: %w", pod.Name, err))
	}
}

// begin runs a pod, unless it is running.
func (k *Kubelet) begin(ctx context.Context, pod *corev1.Pod, pods *sync.WaitGroup) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if _, running := k.pods[pod.UID]; running {
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	k.pods[pod.UID] = cancel
	pods.Go(func() {
		defer cancel()
		if err := k.runPod(ctx, pod.DeepCopy()); err != nil && ctx.Err() == nil && !gone(err) {
			k.fail(fmt.Errorf("pod %s: %w", pod.Name, err))
		}
	})
}

// end ends a pod's process.
func (k *Kubelet) end(uid types.UID) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if cancel := k.pods[uid]; cancel != nil {
		cancel()
	}
}

func (k *Kubelet) started(pod *corev1.Pod) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.starts = append(k.starts, pod.Name)
}

func (k *Kubelet) fail(err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.errs = append(k.errs, err)
}
