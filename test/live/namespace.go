package live

import (
	"context"
	"errors"
	"io"
	"os"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// NewNamespace makes a namespace for a test, under the restricted Pod Security
// Standard, and removes it, and all in it, when the test ends.
func (c *Cluster) NewNamespace(t *testing.T) string {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		GenerateName: "e2e-", Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
	}}
	c.Make(t, namespace)
	t.Cleanup(func() {
		if t.Failed() {
			c.describe(t, namespace.Name)
		}
	})
	return namespace.Name
}

// Make creates an object and removes it when the test ends.
func (c *Cluster) Make(t *testing.T, object client.Object) {
	t.Helper()
	must(t, c.Create(t.Context(), object))
	t.Cleanup(func() {
		if err := c.Delete(context.WithoutCancel(t.Context()), object); client.IgnoreNotFound(err) != nil {
			t.Error(err)
		}
	})
}

// CreateFrom creates the objects of a manifest, in order, in a namespace ("" for
// kinds that have none), into the variables given.
func (c *Cluster) CreateFrom(t *testing.T, file, namespace string, objects ...client.Object) {
	t.Helper()
	content, err := os.Open(file)
	must(t, err)
	defer content.Close() //nolint:errcheck // it was read
	documents := yaml.NewYAMLOrJSONDecoder(content, 4096)
	for _, object := range objects {
		must(t, documents.Decode(object))
		object.SetNamespace(namespace)
		must(t, c.Create(t.Context(), object))
	}
	if err := documents.Decode(&map[string]any{}); !errors.Is(err, io.EOF) {
		t.Fatalf("%s holds more than %d objects: %v", file, len(objects), err)
	}
}

// describe logs what became of a namespace's pods.
func (c *Cluster) describe(t *testing.T, namespace string) {
	var pods corev1.PodList
	var events corev1.EventList
	if err := c.List(context.WithoutCancel(t.Context()), &pods, client.InNamespace(namespace)); err != nil {
		t.Log(err)
	}
	if err := c.List(context.WithoutCancel(t.Context()), &events, client.InNamespace(namespace)); err != nil {
		t.Log(err)
	}
	for _, pod := range pods.Items {
		t.Logf("pod %s on %s: %s", pod.Name, pod.Spec.NodeName, State(&pod))
	}
	for _, event := range events.Items {
		if event.InvolvedObject.Kind == "Pod" && event.Type == corev1.EventTypeNormal || event.Reason == "MissingClusterDNS" {
			continue // pods that come and go as they should
		}
		t.Logf("%s %s: %s: %s", event.InvolvedObject.Kind, event.InvolvedObject.Name, event.Reason, event.Message)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
