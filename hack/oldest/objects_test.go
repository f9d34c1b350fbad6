package oldest_test

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// strict returns a decoder of stable groups that takes an unknown field, or one that stands twice, for an error.
func strict(t *testing.T) runtime.Decoder {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		corev1.AddToScheme, appsv1.AddToScheme, networkingv1.AddToScheme, rbacv1.AddToScheme, schedulingv1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	return serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
}

// The chart needs a newer one.
func TestWhatObservesNodesUsesNoAPIThatTheOldestLacks(t *testing.T) {
	t.Parallel()
	decoder, kinds := strict(t), map[string]bool{}
	files, err := filepath.Glob(filepath.Join("..", "..", "config", "gauge", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("config/gauge has %d files, %v", len(files), err)
	}
	for _, file := range files {
		if filepath.Base(file) == "kustomization.yaml" {
			continue
		}
		for _, document := range documents(t, file) {
			_, kind, err := decoder.Decode(document, nil, nil)
			if err != nil {
				t.Errorf("%s: %v", file, err)
				continue
			}
			kinds[kind.Kind] = true
		}
	}
	want := []string{"ClusterRole", "ClusterRoleBinding", "DaemonSet", "Namespace", "NetworkPolicy", "PriorityClass", "Service", "ServiceAccount"}
	if got := slices.Sorted(maps.Keys(kinds)); !slices.Equal(got, want) {
		t.Errorf("there are objects of the kinds %q, want %q", got, want)
	}
}

// The request for resources of a pod as a whole came with Kubernetes 1.32, and apps/v1beta2 went with 1.16.
func TestAFieldOrAVersionThatTheOldestLacksIsFound(t *testing.T) {
	t.Parallel()
	gauge := string(documents(t, filepath.Join("..", "..", "config", "gauge", "daemonset.yaml"))[0])
	for name, test := range map[string]struct{ from, to, want string }{
		"a field that is newer":       {"      hostPID: true\n", "      hostPID: true\n      resources: {requests: {cpu: 1}}\n", `unknown field "spec.template.spec.resources"`},
		"a version that is not there": {"apiVersion: apps/v1\n", "apiVersion: apps/v1beta2\n", `no kind "DaemonSet" is registered for version "apps/v1beta2"`},
	} {
		changed := strings.Replace(gauge, test.from, test.to, 1)
		if _, _, err := strict(t).Decode([]byte(changed), nil, nil); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: the error is %v, want one with %q", name, err, test.want)
		}
	}
}

// documents returns the objects of a file of YAML.
func documents(t *testing.T, file string) [][]byte {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var all [][]byte
	for reader := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(content))); ; {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		all = append(all, document)
	}
}
