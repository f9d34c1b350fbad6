package share

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"loadline.dev/loadline/pkg/cgroup"
	"loadline.dev/loadline/pkg/cli/access"
)

// clusterWith is a cluster with a node a, a pod on it and one elsewhere.
func clusterWith(t *testing.T, funcs interceptor.Funcs, more ...client.Object) client.Client {
	t.Helper()
	scheme, err := access.Scheme()
	if err != nil {
		t.Fatal(err)
	}
	node := &corev1.Node{}
	node.Name = "a"
	objects := append([]client.Object{node}, more...)
	for _, name := range []string{"on-a", "on-b"} {
		pod := &corev1.Pod{Spec: corev1.PodSpec{NodeName: strings.TrimPrefix(name, "on-"), Containers: []corev1.Container{{Name: "main"}}}}
		pod.Namespace, pod.Name = "shop", name
		objects = append(objects, pod)
	}
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithInterceptorFuncs(funcs).
		WithIndex(&corev1.Pod{}, "spec.nodeName", func(o client.Object) []string { return []string{o.(*corev1.Pod).Spec.NodeName} }). //nolint:errcheck // it is one
		Build()
}

func podMetrics(name, cpu string) client.Object {
	m := &unstructured.Unstructured{Object: map[string]any{
		"containers": []any{map[string]any{"name": "main", "usage": map[string]any{"cpu": cpu, "memory": "1Mi"}}},
	}}
	m.SetGroupVersionKind(schema.GroupVersionKind{Group: "metrics.k8s.io", Version: "v1beta1", Kind: "PodMetrics"})
	m.SetNamespace("shop")
	m.SetName(name)
	return m
}

func TestTheUsageOfPodsIsThatOfTheMetricsAPI(t *testing.T) {
	t.Parallel()
	c := clusterWith(t, interceptor.Funcs{}, podMetrics("on-a", "125000000n"))
	node, pods, err := podsOfNode(t.Context(), c, "a")
	if err != nil || node.Name != "a" || len(pods) != 1 || pods[0].Name != "on-a" {
		t.Fatalf("node %v, pods %v, error %v", node, pods, err)
	}
	usage, err := usageOfPods(t.Context(), c, pods)
	if err != nil {
		t.Fatal(err)
	}
	want := map[cgroup.Container]float64{{Namespace: "shop", Pod: "on-a", Name: "main"}: 0.125}
	if diff := cmp.Diff(want, usage); diff != "" {
		t.Errorf("unexpected usage (-want +got):\n%s", diff)
	}
	if _, _, err := podsOfNode(t.Context(), c, "c"); err == nil || err.Error() != `--node: there is no node "c" in the cluster` {
		t.Errorf("the error is %v", err)
	}
}

func TestAClusterWithoutMetricsSaysWhatToDo(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		client client.Client
		want   string
	}{
		"no API": {
			clusterWith(t, interceptor.Funcs{List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
				if kind := list.GetObjectKind().GroupVersionKind(); kind.Group == "metrics.k8s.io" {
					return &meta.NoKindMatchError{GroupKind: kind.GroupKind()}
				}
				return c.List(ctx, list, options...)
			}}),
			"the cluster has no metrics API (metrics.k8s.io), so how much CPU the pods use is not known: install metrics-server, or give it in a file, --usage usage.csv",
		},
		"not of the pods": {clusterWith(t, interceptor.Funcs{}, podMetrics("on-b", "1")), "the metrics API has no pod of the node (yet)"},
		"no number":       {clusterWith(t, interceptor.Funcs{}, podMetrics("on-a", "much")), `the metrics of pod shop/on-a: container main: usage.cpu: "much" is not a number`},
	} {
		_, pods, err := podsOfNode(t.Context(), test.client, "a")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := usageOfPods(t.Context(), test.client, pods); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: the error is %v, want %s", name, err, test.want)
		}
	}
}
