package main

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/hack/cluster/controlplane"
	"loadline.dev/loadline/hack/comparison"
	"loadline.dev/loadline/hack/local"
	"loadline.dev/loadline/hack/madeup"
	"loadline.dev/loadline/pkg/cli/deployed"
	"loadline.dev/loadline/pkg/evaluate/installation"
	"loadline.dev/loadline/pkg/evaluate/observed"
)

const (
	// requests is how many requests are made at once.
	requests = 64
	// reader is the service account that may read gauges.
	reader = "loadline-gauge-reader"
)

// cluster is one that is made up, on a control plane.
type cluster struct {
	client.WithWatch

	plane    *controlplane.ControlPlane
	progress *comparison.Progress
	in       *observed.Input
	gauges   *gauges
}

// newCluster returns a cluster, with its gauges, of which nothing is on the control plane yet.
func newCluster(ctx context.Context, o *options, plane *controlplane.ControlPlane, progress *comparison.Progress) (*cluster, error) {
	config := plane.RESTConfig()
	config.QPS = -1
	c := &cluster{plane: plane, progress: progress}
	var err error
	if c.WithWatch, err = local.NewClient(config); err != nil {
		return nil, err
	}
	if c.in, err = madeup.Cluster(o.nodes, o.pods, time.Now()); err != nil {
		return nil, err
	}
	c.gauges, err = newGauges(ctx, c.in.Sights)
	return c, err
}

// populate creates the nodes and the pods, which run.
func (c *cluster) populate(ctx context.Context) error {
	c.progress.Step("creating %d nodes", len(c.in.Nodes))
	nodes := make([]*corev1.Node, len(c.in.Nodes))
	for i := range nodes {
		nodes[i] = &c.in.Nodes[i]
		nodes[i].Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: c.gauges.address}}
	}
	if err := c.plane.AddNodes(ctx, nodes...); err != nil {
		return err
	}
	pods, named := c.pods(), sets.New[string]()
	for _, p := range pods {
		named.Insert(p.GetNamespace())
	}
	namespaces := sets.List(named)
	if err := c.prepare(ctx, namespaces); err != nil {
		return err
	}
	if err := c.storePods(ctx, pods); err != nil {
		return err
	}
	for i, pod := range pods[:len(c.in.Pods)] {
		c.identify(i, pod.UID)
	}
	return nil
}

// prepare creates what pods need: their namespaces and service accounts.
func (c *cluster) prepare(ctx context.Context, namespaces []string) error {
	objects := []client.Object{}
	for _, name := range namespaces {
		objects = append(objects,
			&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}},
			&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: "default"}})
	}
	objects = append(objects, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: deployed.InstallNamespace, Name: reader}})
	for _, o := range objects {
		if err := client.IgnoreAlreadyExists(c.Create(ctx, o)); err != nil {
			return fmt.Errorf("creating %T %s: %w", o, o.GetName(), err)
		}
	}
	return nil
}

// createAll creates objects, some at once.
func (c *cluster) createAll(ctx context.Context, what string, objects []client.Object) error {
	c.progress.Step("creating %d %s", len(objects), what)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(requests)
	var done atomic.Int64
	for _, o := range objects {
		group.Go(func() error {
			if err := c.Create(ctx, o); err != nil {
				return fmt.Errorf("creating %T %s: %w", o, o.GetName(), err)
			}
			c.progress.Count(what, int(done.Add(1)), len(objects))
			return nil
		})
	}
	return group.Wait()
}

// identify has a gauge report the pod of an index by its UID.
func (c *cluster) identify(pod int, uid types.UID) {
	perNode := len(c.in.Pods) / len(c.in.Nodes)
	for k := range c.in.Sights[pod/perNode].Intervals {
		c.in.Sights[pod/perNode].Intervals[k].Pods[pod%perNode].UID = string(uid)
	}
}

// pods returns the pods of the cluster and then those of gauges.
func (c *cluster) pods() []*corev1.Pod {
	pods := make([]*corev1.Pod, 0, len(c.in.Pods)+len(c.in.Nodes))
	for i := range c.in.Pods {
		pods = append(pods, dressed(&c.in.Pods[i]))
	}
	for i := range c.in.Nodes {
		pods = append(pods, c.gauge(i))
	}
	return pods
}

// gauge returns the pod of the gauge of a node.
func (c *cluster) gauge(node int) *corev1.Pod {
	port := c.gauges.ports[node]
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: deployed.InstallNamespace, Name: fmt.Sprintf("loadline-gauge-%05d", node), Labels: installation.GaugeLabels(),
			Annotations:     map[string]string{installation.ReaderAnnotation: reader},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "DaemonSet", Name: "loadline-gauge", UID: "gauge", Controller: new(true)}},
		},
		Spec: corev1.PodSpec{
			NodeName: c.in.Nodes[node].Name, HostPID: true, HostNetwork: true,
			Containers: []corev1.Container{{Name: "gauge", Image: "loadline-gauge", Ports: []corev1.ContainerPort{{Name: "https", ContainerPort: port, HostPort: port}}}},
		},
	}
}

// dressed returns a pod with what pods of services have besides.
func dressed(of *corev1.Pod) *corev1.Pod {
	pod := of.DeepCopy()
	pod.UID, pod.Status = "", corev1.PodStatus{}
	pod.OwnerReferences[0].UID = types.UID(pod.OwnerReferences[0].Name)
	pod.Labels["app.kubernetes.io/name"], pod.Labels["pod-template-hash"] = pod.Labels["app"], "5d4f"
	pod.Annotations = map[string]string{"prometheus.io/scrape": "true", "prometheus.io/port": "9090"}
	pod.Spec.SchedulerName = "loadline" // whose pods plans move
	pod.Spec.Tolerations = []corev1.Toleration{
		{Key: corev1.TaintNodeNotReady, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute},
		{Key: corev1.TaintNodeUnreachable, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute},
	}
	pod.Spec.Volumes = []corev1.Volume{
		{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "config"}}}},
		{Name: "scratch", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
	}
	main := &pod.Spec.Containers[0]
	main.Image = "registry.example/" + pod.Labels["app"] + ":v1.2.3"
	main.Ports = []corev1.ContainerPort{{Name: "http", ContainerPort: 8080}, {Name: "metrics", ContainerPort: 9090}}
	main.VolumeMounts = []corev1.VolumeMount{{Name: "config", MountPath: "/etc/config", ReadOnly: true}, {Name: "scratch", MountPath: "/tmp"}}
	main.ReadinessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/readyz", Port: intstr.FromString("http")}}}
	main.LivenessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/healthz", Port: intstr.FromString("http")}}}
	main.Resources.Requests[corev1.ResourceMemory] = resource.MustParse("256Mi")
	for i := range 10 {
		main.Env = append(main.Env, corev1.EnvVar{Name: fmt.Sprintf("SETTING_%d", i), Value: fmt.Sprintf("the value of setting %d of %s", i, pod.Labels["app"])})
	}
	return pod
}
