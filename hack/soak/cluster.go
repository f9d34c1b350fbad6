package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/hack/comparison"
	"loadline.dev/loadline/hack/local"
	"loadline.dev/loadline/pkg/cli/deployed"
	"loadline.dev/loadline/pkg/evaluate/installation"
)

const (
	// release is what Helm calls the installation, and own is the namespace of what reads metrics.
	release = "loadline"
	own     = "soak"
	// patience is how long something may take that the soak waits for, and brief what a cluster does at once.
	patience, brief = 5 * time.Minute, 30 * time.Second
)

//go:embed values.yaml
var values []byte

// cluster is the one that KUBECONFIG names, with Loadline.
type cluster struct {
	client.WithWatch

	api        kubernetes.Interface
	config     *rest.Config
	kubeconfig string
	dir        string
	helm       string
	chart      string
	progress   *comparison.Progress
}

// connect returns the cluster that a file of kubectl's names.
func connect(o *options, progress *comparison.Progress) (*cluster, error) {
	config, err := clientcmd.BuildConfigFromFlags("", o.kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("the cluster (make soak starts one): %w", err)
	}
	config.QPS = -1
	config.WarningHandler = rest.NoWarnings{}
	c := &cluster{config: config, kubeconfig: o.kubeconfig, dir: o.dir, helm: o.helm, chart: o.chart, progress: progress}
	if c.WithWatch, err = local.NewClient(config); err != nil {
		return nil, err
	}
	c.api, err = kubernetes.NewForConfig(config)
	return c, err
}

// install installs Loadline by Helm, and returns when all of it runs.
func (c *cluster) install(ctx context.Context) error {
	c.progress.Step("installing Loadline")
	file := filepath.Join(c.dir, "values.yaml")
	if err := os.WriteFile(file, values, 0o600); err != nil {
		return err
	}
	for _, o := range []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: deployed.InstallNamespace, Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"}}},
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: own}},
		&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: own, Name: "reader"}},
	} {
		if err := client.IgnoreAlreadyExists(c.Create(ctx, o)); err != nil {
			return fmt.Errorf("creating %T %s: %w", o, o.GetName(), err)
		}
	}
	if err := c.runHelm(ctx, "upgrade", release, c.chart, "--install", "--wait", "--timeout", patience.String(), "--values", file); err != nil {
		return err
	}
	return c.awaitInstalled(ctx)
}

// uninstall takes Loadline away.
func (c *cluster) uninstall(ctx context.Context) error {
	return c.runHelm(ctx, "uninstall", release, "--wait", "--timeout", patience.String(), "--ignore-not-found")
}

func (c *cluster) runHelm(ctx context.Context, args ...string) error {
	command := exec.CommandContext(ctx, c.helm, append(args, "--namespace", deployed.InstallNamespace)...)
	command.Env = append(os.Environ(), "KUBECONFIG="+c.kubeconfig)
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	command.WaitDelay = brief
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("helm %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}

// awaitInstalled returns when all Deployments of Loadline are available and every real node has a gauge.
func (c *cluster) awaitInstalled(ctx context.Context) error {
	stand := ""
	err := wait.PollUntilContextTimeout(ctx, time.Second, patience, true, func(ctx context.Context) (bool, error) {
		var deployments appsv1.DeploymentList
		var sets appsv1.DaemonSetList
		labels := client.MatchingLabels{installation.PartOfLabel: installation.PartOf}
		if err := errors.Join(c.List(ctx, &deployments, labels), c.List(ctx, &sets, labels)); err != nil {
			return false, err
		}
		stand = fmt.Sprintf("%d Deployments and %d DaemonSets", len(deployments.Items), len(sets.Items))
		for i := range deployments.Items {
			d := &deployments.Items[i]
			if d.Status.AvailableReplicas < *d.Spec.Replicas {
				stand = fmt.Sprintf("%s has %d of %d replicas available", d.Name, d.Status.AvailableReplicas, *d.Spec.Replicas)
				return false, nil
			}
		}
		for i := range sets.Items {
			s := &sets.Items[i]
			if s.Status.NumberAvailable < s.Status.DesiredNumberScheduled || s.Status.DesiredNumberScheduled == 0 {
				stand = fmt.Sprintf("%s is available on %d of %d nodes", s.Name, s.Status.NumberAvailable, s.Status.DesiredNumberScheduled)
				return false, nil
			}
		}
		return len(deployments.Items) >= 3 && len(sets.Items) >= 1, nil
	})
	if err != nil {
		return fmt.Errorf("waiting for Loadline: %s: %w", stand, err)
	}
	return nil
}

// token returns a token of a service account that lasts for some time, for an audience; empty is that of the API server.
func (c *cluster) token(ctx context.Context, namespace, account, audience string, lasts time.Duration) (string, error) {
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: new(int64(lasts.Seconds()))}}
	if audience != "" {
		request.Spec.Audiences = []string{audience}
	}
	of := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: account}}
	if err := c.SubResource("token").Create(ctx, of, request); err != nil {
		return "", fmt.Errorf("a token of %s/%s: %w", namespace, account, err)
	}
	return request.Status.Token, nil
}

// programs returns the pods of Loadline's programs, but those that are played.
func (c *cluster) programs(ctx context.Context) ([]corev1.Pod, error) {
	var pods corev1.PodList
	if err := c.List(ctx, &pods, client.MatchingLabels{installation.PartOfLabel: installation.PartOf}); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(pods.Items, func(pod corev1.Pod) bool { return pod.Labels["app.kubernetes.io/name"] == "played" }), nil
}

// partOfPod returns which of Loadline's programs a pod runs, such as manager.
func partOfPod(pod *corev1.Pod) string {
	return strings.TrimPrefix(pod.Labels["app.kubernetes.io/name"], "loadline-")
}

// removeAll deletes objects, and returns when they are gone.
func (c *cluster) removeAll(ctx context.Context, objects []client.Object) error {
	var errs []error
	for _, o := range objects {
		errs = append(errs, client.IgnoreNotFound(c.Delete(ctx, o, client.PropagationPolicy(metav1.DeletePropagationBackground))))
	}
	for _, o := range objects {
		err := wait.PollUntilContextTimeout(ctx, time.Second, patience, true, func(ctx context.Context) (bool, error) {
			err := c.Get(ctx, client.ObjectKeyFromObject(o), o)
			return apierrors.IsNotFound(err), client.IgnoreNotFound(err)
		})
		if err != nil {
			errs = append(errs, fmt.Errorf("%T %s is not gone: %w", o, o.GetName(), err))
		}
	}
	return errors.Join(errs...)
}
