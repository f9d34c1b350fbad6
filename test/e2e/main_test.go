//go:build e2e

package e2e

import (
	"context"
	"flag"
	"fmt"
	"os"
	"testing"
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

var (
	operator   = flag.String("operator-namespace", "loadline-system", "namespace that Loadline runs in")
	probeImage = flag.String("probe-image", "loadline/loadline-probe:dev", "image with loadline-probe on its PATH")
)

// workerRole is the label of nodes that run what users want to run. A cluster that
// does not label them has workers all the same: see findWorkers.
const workerRole = "node-role.kubernetes.io/worker"

// cluster is the cluster that the tests run on.
var cluster struct {
	client.Client
	config  *rest.Config
	workers []corev1.Node // by name
}

func TestMain(m *testing.M) {
	flag.Parse()
	if err := connect(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// connect finds the cluster and waits until Loadline is available there.
func connect(ctx context.Context) error {
	restConfig, err := config.GetConfig()
	if err != nil {
		return fmt.Errorf("find the cluster (name a kubeconfig file with -kubeconfig or KUBECONFIG): %w", err)
	}
	restConfig.QPS = -1                           // no limit
	restConfig.WarningHandler = rest.NoWarnings{} // tests make what deserves them
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			return err
		}
	}
	if cluster.Client, err = client.New(restConfig, client.Options{Scheme: scheme}); err != nil {
		return err
	}
	cluster.config = restConfig
	for _, name := range []string{"loadline-manager", "loadline-scheduler"} {
		if err := awaitAvailable(ctx, name); err != nil {
			return err
		}
	}
	cluster.workers, err = findWorkers(ctx)
	return err
}

// awaitAvailable returns when a Deployment of Loadline is available.
func awaitAvailable(ctx context.Context, name string) error {
	last := "it is not there: apply config/default"
	err := wait.PollUntilContextTimeout(ctx, time.Second, 3*time.Minute, true, func(ctx context.Context) (bool, error) {
		var deployment appsv1.Deployment
		err := cluster.Get(ctx, types.NamespacedName{Namespace: *operator, Name: name}, &deployment)
		if client.IgnoreNotFound(err) != nil {
			return false, err
		}
		for _, c := range deployment.Status.Conditions {
			if c.Type == appsv1.DeploymentAvailable {
				last = c.Message
				return c.Status == corev1.ConditionTrue && deployment.Status.ObservedGeneration == deployment.Generation, nil
			}
		}
		return false, nil
	})
	if err != nil {
		return fmt.Errorf("await Deployment %s/%s: %w: %s", *operator, name, err, last)
	}
	return nil
}

// findWorkers returns the nodes labelled as workers, or, where none is, those that
// any pod may run on.
func findWorkers(ctx context.Context) ([]corev1.Node, error) {
	var nodes corev1.NodeList
	if err := cluster.List(ctx, &nodes); err != nil {
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
