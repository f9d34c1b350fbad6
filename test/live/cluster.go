package live

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/config" // has the flag -kubeconfig, and reads KUBECONFIG

	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

// Cluster is the cluster that tests run on.
type Cluster struct {
	// Client may do everything and knows Kubernetes' and Loadline's types.
	client.Client
	// Config is how it reaches the cluster.
	Config *rest.Config
	// Workers are the nodes that run what users want to run, by name.
	Workers []corev1.Node
	// ProbeImage is an image with loadline-probe on its PATH, which pods of tests
	// run.
	ProbeImage string
}

// Connect finds the cluster that the flag -kubeconfig, or else KUBECONFIG, names.
func Connect(ctx context.Context, probeImage string) (*Cluster, error) {
	restConfig, err := config.GetConfig()
	if err != nil {
		return nil, fmt.Errorf("find the cluster (name a kubeconfig file with -kubeconfig or KUBECONFIG): %w", err)
	}
	restConfig.QPS = -1                           // no limit
	restConfig.WarningHandler = rest.NoWarnings{} // tests make what deserves them
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	c := &Cluster{Config: restConfig, ProbeImage: probeImage}
	if c.Client, err = client.New(restConfig, client.Options{Scheme: scheme}); err != nil {
		return nil, err
	}
	c.Workers, err = c.findWorkers(ctx)
	return c, err
}

// workerRole is the label of nodes that run what users want to run. A cluster that
// does not label them has workers all the same: see findWorkers.
const workerRole = "node-role.kubernetes.io/worker"

// findWorkers returns the nodes labelled as workers, or, where none is, those that
// any pod may run on.
func (c *Cluster) findWorkers(ctx context.Context) ([]corev1.Node, error) {
	var nodes corev1.NodeList
	if err := c.List(ctx, &nodes); err != nil {
		return nil, err
	}
	var labelled, open []corev1.Node
	for _, node := range nodes.Items { // sorted by name: it is their key in etcd
		if _, is := node.Labels[workerRole]; is {
			labelled = append(labelled, node)
		}
		if len(node.Spec.Taints) == 0 && !node.Spec.Unschedulable {
			open = append(open, node)
		}
	}
	if len(labelled) == 0 {
		labelled = open
	}
	if len(labelled) < 2 {
		return nil, fmt.Errorf("the cluster has %d worker nodes (label %s, or no taint), the tests need 2", len(labelled), workerRole)
	}
	return labelled, nil
}

// AwaitAvailable returns when a Deployment is available, as it is now asked to be.
func (c *Cluster) AwaitAvailable(ctx context.Context, namespace, name string) error {
	last := "it is not there"
	err := wait.PollUntilContextTimeout(ctx, time.Second, 3*time.Minute, true, func(ctx context.Context) (bool, error) {
		var deployment appsv1.Deployment
		err := c.Get(ctx, types.NamespacedName{Namespace: namespace, Name: name}, &deployment)
		if client.IgnoreNotFound(err) != nil {
			return false, err
		}
		for _, condition := range deployment.Status.Conditions {
			if condition.Type == appsv1.DeploymentAvailable {
				last = condition.Message
				return condition.Status == corev1.ConditionTrue && deployment.Status.ObservedGeneration == deployment.Generation, nil
			}
		}
		return false, nil
	})
	if err != nil {
		return fmt.Errorf("await Deployment %s/%s: %w: %s", namespace, name, err, last)
	}
	return nil
}

// PodsOf returns the pods of a Deployment that are not being deleted.
func (c *Cluster) PodsOf(ctx context.Context, namespace, name string) ([]corev1.Pod, error) {
	var deployment appsv1.Deployment
	if err := c.Get(ctx, types.NamespacedName{Namespace: namespace, Name: name}, &deployment); err != nil {
		return nil, err
	}
	var pods corev1.PodList
	if err := c.List(ctx, &pods, client.InNamespace(namespace), client.MatchingLabels(deployment.Spec.Selector.MatchLabels)); err != nil {
		return nil, err
	}
	var living []corev1.Pod
	for _, pod := range pods.Items {
		if pod.DeletionTimestamp.IsZero() {
			living = append(living, pod)
		}
	}
	return living, nil
}

// As returns a client of a user, who may do what RBAC lets that user.
func (c *Cluster) As(user string) (client.Client, error) {
	restConfig := rest.CopyConfig(c.Config)
	restConfig.Impersonate.UserName = user
	return client.New(restConfig, client.Options{Scheme: c.Scheme()})
}
