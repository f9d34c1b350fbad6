//go:build kueue

package kueue

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/yaml"

	"loadline.dev/loadline/hack/cluster/controlplane"
	"loadline.dev/loadline/hack/local"
)

// What Kueue calls itself: its config/default gives its objects this namespace, and this before their names.
const (
	system  = "kueue-system"
	prefix  = "kueue-"
	service = prefix + "webhook-service"
	secret  = prefix + "webhook-server-cert"
	user    = "kueue"
)

// moduleFolder returns the folder of Kueue's module, in the version that hack/kueue pins.
func moduleFolder(t *testing.T, root string) string {
	t.Helper()
	list := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/kueue")
	list.Dir = filepath.Join(root, "hack", "kueue")
	out, err := list.Output()
	must(t, err)
	return strings.TrimSpace(string(out))
}

// read returns the objects of YAML.
func read(t *testing.T, text []byte) (objects []*unstructured.Unstructured) {
	t.Helper()
	decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), len(text))
	for {
		o := &unstructured.Unstructured{}
		if err := decoder.Decode(&o.Object); errors.Is(err, io.EOF) {
			return objects
		} else if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		if len(o.Object) > 0 {
			objects = append(objects, o)
		}
	}
}

// readFile returns the objects of a file.
func readFile(t *testing.T, elements ...string) []*unstructured.Unstructured {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(elements...))
	must(t, err)
	return read(t, text)
}

// install installs Kueue's resource definitions, roles and webhooks, which lead to a port of this machine, and binds the roles
// to a user of whom it writes a kubeconfig. The manager makes the certificates of the webhooks.
func install(t *testing.T, c client.Client, plane *controlplane.ControlPlane, config string, port int) (kubeconfig string) {
	t.Helper()
	installDefinitions(t, plane, config, int64(port))
	must(t, c.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: system}}))
	must(t, c.Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: system, Name: secret}}))
	// The API server asks a Service of this type at its external name, which is this machine.
	must(t, c.Create(t.Context(), &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: system, Name: service},
		Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "localhost"},
	}))
	for _, file := range []string{"role", "manager_secrets_role", "leader_election_role"} {
		for _, role := range readFile(t, config, "rbac", file+".yaml") {
			createRole(t, c, role)
		}
	}
	for _, hooks := range readFile(t, config, "webhook", "manifests.yaml") {
		hooks.SetName(prefix + hooks.GetName())
		list, _, err := unstructured.NestedSlice(hooks.Object, "webhooks")
		must(t, err)
		for _, hook := range list {
			at, _, err := unstructured.NestedMap(hook.(map[string]any), "clientConfig", "service") //nolint:errcheck // by its schema
			must(t, err)
			maps.Copy(at, map[string]any{"namespace": system, "name": service, "port": int64(port)})
			must(t, unstructured.SetNestedMap(hook.(map[string]any), at, "clientConfig", "service")) //nolint:errcheck // as above
		}
		must(t, unstructured.SetNestedSlice(hooks.Object, list, "webhooks"))
		must(t, c.Create(t.Context(), hooks))
	}
	kubeconfig = filepath.Join(t.TempDir(), "kubeconfig")
	must(t, plane.WriteKubeconfig(kubeconfig, user))
	return kubeconfig
}

// installDefinitions installs Kueue's resource definitions. Those that it has a patch for are converted by its webhook.
func installDefinitions(t *testing.T, plane *controlplane.ControlPlane, config string, port int64) {
	t.Helper()
	dir := t.TempDir()
	files, err := filepath.Glob(filepath.Join(config, "crd", "bases", "*.yaml"))
	must(t, err)
	if len(files) == 0 {
		t.Fatalf("%s has no resource definitions", config)
	}
	for _, file := range files {
		for _, crd := range readFile(t, file) {
			plural, _, _ := strings.Cut(crd.GetName(), ".")
			if _, err := os.Stat(filepath.Join(config, "crd", "patches", "webhook_in_"+plural+".yaml")); err == nil {
				must(t, unstructured.SetNestedMap(crd.Object, map[string]any{
					"strategy": "Webhook",
					"webhook": map[string]any{
						"conversionReviewVersions": []any{"v1"},
						"clientConfig":             map[string]any{"service": map[string]any{"namespace": system, "name": service, "path": "/convert", "port": port}},
					},
				}, "spec", "conversion"))
			}
			text, err := yaml.Marshal(crd.Object)
			must(t, err)
			must(t, os.WriteFile(filepath.Join(dir, plural+".yaml"), text, 0o600))
		}
	}
	_, err = envtest.InstallCRDs(plane.RESTConfig(), envtest.CRDInstallOptions{Paths: []string{dir}, ErrorIfPathMissing: true, MaxTime: time.Minute})
	must(t, err)
}

// createRole creates a role of Kueue, and binds it to the user.
func createRole(t *testing.T, c client.Client, role *unstructured.Unstructured) {
	t.Helper()
	role.SetName(prefix + role.GetName())
	meta := metav1.ObjectMeta{Name: role.GetName()}
	ref := rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: role.GetKind(), Name: role.GetName()}
	subjects := []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}}
	if role.GetKind() == "Role" {
		role.SetNamespace(system)
		meta.Namespace = system
		must(t, c.Create(t.Context(), &rbacv1.RoleBinding{ObjectMeta: meta, RoleRef: ref, Subjects: subjects}))
	} else {
		must(t, c.Create(t.Context(), &rbacv1.ClusterRoleBinding{ObjectMeta: meta, RoleRef: ref, Subjects: subjects}))
	}
	must(t, c.Create(t.Context(), role))
}

// start runs Kueue's manager, configured as its module has it but for its addresses, until the test ends.
func start(t *testing.T, c client.Client, binary, kubeconfig, config string, port int) {
	t.Helper()
	certificates := t.TempDir()
	health, err := local.FreePort(t.Context())
	must(t, err)
	object := readFile(t, config, "manager", "controller_manager_config.yaml")[0].Object
	maps.Copy(object, map[string]any{
		"namespace":      system,
		"health":         map[string]any{"healthProbeBindAddress": "127.0.0.1:" + health},
		"metrics":        map[string]any{"bindAddress": "0"},
		"webhook":        map[string]any{"host": "127.0.0.1", "port": port, "certDir": certificates},
		"leaderElection": map[string]any{"leaderElect": false},
		"featureGates":   map[string]any{"VisibilityOnDemand": false}, // an API server of its own, of which nothing is asked here
	})
	text, err := yaml.Marshal(object)
	must(t, err)
	file := filepath.Join(t.TempDir(), "kueue.yaml")
	must(t, os.WriteFile(file, text, 0o600))

	mounted := make(chan error, 1)
	go func() { mounted <- mount(t.Context(), c, certificates) }()
	process, err := local.Start(t.Context(), "http://127.0.0.1:"+health, "/readyz", binary, "--config", file, "--kubeconfig", kubeconfig)
	must(t, err)
	t.Cleanup(func() {
		must(t, process.Kill())
		if t.Failed() {
			t.Logf("Kueue's log:\n%s", process.Log())
		}
	})
	must(t, <-mounted)
}

// mount does for Kueue's manager what a kubelet does: once it has made the certificates of its webhooks, it has them as files.
func mount(ctx context.Context, c client.Client, dir string) error {
	const interval, limit = 100 * time.Millisecond, time.Minute
	return wait.PollUntilContextTimeout(ctx, interval, limit, true, func(ctx context.Context) (bool, error) {
		var s corev1.Secret
		if err := c.Get(ctx, client.ObjectKey{Namespace: system, Name: secret}, &s); err != nil || len(s.Data["tls.key"]) == 0 {
			return false, err
		}
		for _, name := range slices.Sorted(maps.Keys(s.Data)) {
			if err := os.WriteFile(filepath.Join(dir, name), s.Data[name], 0o600); err != nil {
				return false, fmt.Errorf("mounting the certificates: %w", err)
			}
		}
		return true, nil
	})
}

// freePort returns a free port as a number.
func freePort(t *testing.T) int {
	t.Helper()
	text, err := local.FreePort(t.Context())
	must(t, err)
	port, err := strconv.Atoi(text)
	must(t, err)
	return port
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
