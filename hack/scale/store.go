package main

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/kubernetes/scheme"
)

// storePods has pods run, as if kubelets had started them: it writes them where the API server keeps them, which takes minutes for a hundred
// thousand, and not hours. It sets their UIDs.
func (c *cluster) storePods(ctx context.Context, pods []*corev1.Pod) error {
	c.progress.Step("storing %d pods that run", len(pods))
	etcd, err := clientv3.New(clientv3.Config{Endpoints: []string{"http://" + c.plane.EtcdAddress()}, DialTimeout: time.Minute})
	if err != nil {
		return fmt.Errorf("connecting to etcd: %w", err)
	}
	defer etcd.Close()
	encoder := scheme.Codecs.LegacyCodec(corev1.SchemeGroupVersion)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(requests)
	var done atomic.Int64
	for i, pod := range pods {
		group.Go(func() error {
			c.started(pod, i)
			text, err := runtime.Encode(encoder, pod)
			if err != nil {
				return fmt.Errorf("pod %s/%s: %w", pod.Namespace, pod.Name, err)
			}
			if _, err := etcd.Put(ctx, "/registry/pods/"+pod.Namespace+"/"+pod.Name, string(text)); err != nil {
				return fmt.Errorf("storing pod %s/%s: %w", pod.Namespace, pod.Name, err)
			}
			c.progress.Count("pods", int(done.Add(1)), len(pods))
			return nil
		})
	}
	return group.Wait()
}

// started gives a pod the identity and the status that it has once it runs; the index tells its address from others.
func (c *cluster) started(pod *corev1.Pod, index int) {
	now := metav1.Now()
	pod.UID, pod.CreationTimestamp = uuid.NewUUID(), now
	pod.Status = corev1.PodStatus{
		Phase: corev1.PodRunning, QOSClass: corev1.PodQOSBurstable, StartTime: &now, HostIP: c.gauges.address,
		PodIP: fmt.Sprintf("10.%d.%d.%d", index>>16&255, index>>8&255, index&255),
	}
	if pod.Spec.HostNetwork {
		pod.Status.PodIP = pod.Status.HostIP
	}
	pod.Status.HostIPs, pod.Status.PodIPs = []corev1.HostIP{{IP: pod.Status.HostIP}}, []corev1.PodIP{{IP: pod.Status.PodIP}}
	for _, kind := range []corev1.PodConditionType{corev1.PodReadyToStartContainers, corev1.PodInitialized, corev1.PodReady, corev1.ContainersReady, corev1.PodScheduled} {
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: kind, Status: corev1.ConditionTrue, LastTransitionTime: now})
	}
	for i := range pod.Spec.Containers {
		container := &pod.Spec.Containers[i]
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{
			Name: container.Name, Image: container.Image, ImageID: container.Image + "@sha256:0000000000000000000000000000000000000000000000000000000000000000",
			ContainerID: "containerd://" + string(pod.UID), Ready: true, Started: new(true), Resources: &container.Resources,
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}},
		})
	}
}
