//go:build e2e

package install

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/test/feature"
	"loadline.dev/loadline/test/live"
)

// helm runs helm on the cluster. It also works when the test has ended.
func helm(t *testing.T, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), *helmProgram, append(args, "--namespace", operator)...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig())
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("helm %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	t.Logf("helm %s\n%s", strings.Join(args, " "), out)
}

// kubeconfig is the file that says which cluster it is.
func kubeconfig() string {
	if f := flag.Lookup("kubeconfig"); f != nil && f.Value.String() != "" {
		return f.Value.String()
	}
	return os.Getenv("KUBECONFIG")
}

// installPrevious installs the chart's previous version. Where the API server is older than that one asks for, it installs this version
// with another annotation of its pods, so that an upgrade replaces them.
func installPrevious(t *testing.T) {
	t.Helper()
	makeNamespace(t)
	from, args := *previousChart, []string{"--wait", "--timeout", "5m", "--set", "image.tag=" + *imageTag}
	out, err := exec.CommandContext(t.Context(), *helmProgram, "template", release, from, "--validate", "--kubeconfig", kubeconfig()).CombinedOutput()
	if !feature.Found(t, cluster.Config, err == nil, fmt.Sprintf("what the previous chart asks for: %v: %s", err, out)) {
		from = *chart
		args = append(args, "--values", "testdata/values.yaml", "--set", "gauge.enabled=false,manager.podAnnotations.from=before,scheduler.podAnnotations.from=before")
	}
	helm(t, append([]string{"install", release, from}, args...)...)
}

// letReadNamespaces grants the manager what its image of this version reads and the previous chart does not let it read, until the test
// ends. With the previous version's image it would not need it.
func letReadNamespaces(t *testing.T) {
	t.Helper()
	meta := metav1.ObjectMeta{Name: "previous-chart-reads-namespaces"}
	for _, o := range []client.Object{
		&rbacv1.ClusterRole{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"namespaces"}, Verbs: []string{"list", "watch"}}}},
		&rbacv1.ClusterRoleBinding{
			ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: meta.Name},
			Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: operator, Name: manager}},
		},
	} {
		must(t, cluster.Create(t.Context(), o))
		t.Cleanup(func() {
			if err := cluster.Delete(context.WithoutCancel(t.Context()), o); err != nil {
				t.Error(err)
			}
		})
	}
}

// install installs the chart, or upgrades what is installed to it, and returns when
// all of it runs.
func install(t *testing.T, args ...string) {
	t.Helper()
	makeNamespace(t)
	args = append([]string{
		"upgrade", release, *chart, "--install", "--wait", "--timeout", "5m",
		"--values", "testdata/values.yaml", "--set", "image.tag=" + *imageTag,
	}, args...)
	helm(t, args...)
	for _, name := range []string{manager, scheduler} {
		must(t, cluster.AwaitAvailable(t.Context(), operator, name))
	}
}

// makeNamespace makes the namespace for Loadline, if need be, as strict as it can be.
func makeNamespace(t *testing.T) {
	t.Helper()
	err := cluster.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: operator, Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
	}})
	must(t, client.IgnoreAlreadyExists(err))
}

// uninstall takes the release away, and the namespace that was made for it.
func uninstall(t *testing.T) {
	t.Helper()
	helmUninstall(t)
	awaitEmpty(t, operator)
	removeNamespace(t, operator)
}

func helmUninstall(t *testing.T) {
	t.Helper()
	helm(t, "uninstall", release, "--wait", "--timeout", "5m", "--ignore-not-found")
}

// removeNamespace removes a namespace, and returns when it is gone with all in it.
func removeNamespace(t *testing.T, name string) {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	must(t, client.IgnoreNotFound(cluster.Delete(t.Context(), namespace)))
	awaitNoNamespace(t, name)
}

// awaitNoNamespace waits until a namespace is gone that is being removed.
func awaitNoNamespace(t *testing.T, name string) {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	live.Until(t, "namespace "+name+" is gone", live.Patience, func(ctx context.Context) (bool, string, error) {
		err := cluster.Get(ctx, client.ObjectKeyFromObject(namespace), namespace)
		return apierrors.IsNotFound(err), "it is " + string(namespace.Status.Phase), client.IgnoreNotFound(err)
	})
}

// clearAway takes away what is left of a release, of a test that failed too, and all that Loadline keeps.
func clearAway(t *testing.T) {
	t.Helper()
	helmUninstall(t)
	removeNamespace(t, operator)
	for _, kind := range kinds {
		definition := &unstructured.Unstructured{}
		definition.SetName(kind)
		definition.SetGroupVersionKind(schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"})
		must(t, client.IgnoreNotFound(cluster.Delete(t.Context(), definition)))
		live.Until(t, kind+" are gone", live.Patience, func(ctx context.Context) (bool, string, error) {
			err := cluster.Get(ctx, client.ObjectKeyFromObject(definition), definition)
			return apierrors.IsNotFound(err), "they are being deleted", client.IgnoreNotFound(err)
		})
	}
}
