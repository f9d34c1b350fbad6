package extremes_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"loadline.dev/loadline/test/extremes"
	"loadline.dev/loadline/test/manifests"
)

// object returns the first object of a kind that has every field.
func object(t *testing.T, kind string) *unstructured.Unstructured {
	t.Helper()
	objects, err := manifests.Objects()
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range objects {
		if o["kind"] == kind {
			return &unstructured.Unstructured{Object: o}
		}
	}
	t.Fatalf("there is no %s among the objects", kind)
	return nil
}

func kindOf(t *testing.T, name string) *extremes.Kind {
	t.Helper()
	kind, err := extremes.Of(name)
	if err != nil {
		t.Fatal(err)
	}
	return kind
}

func TestNumbersAndListsOfEveryKindReachTheirExtremes(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		among     []string // extremes that are tried
		unreached []string // fields of which no extreme is admitted alone in the object with every field
	}{
		"NodeProfile":       {among: []string{"spec.resources[].servers = 16384", "spec.devices = 4 items", "spec.devices[].replicas = 1024"}, unreached: []string{"spec.selector.matchExpressions[].values"}},
		"PoolPlan":          {among: []string{"spec.classes[0].service.meanMillis = 1000000000000", "spec.classes[].sla.probability = 0.999999999"}, unreached: []string{"spec.classes", "spec.pools", "spec.pools[].classes"}},
		"RemediationPolicy": {among: []string{"spec.budget.atOnce = 1000", "spec.history = 1000", "spec.singleReplicas = 256 items", "spec.above = 1000"}, unreached: []string{"spec.namespaceSelector.matchExpressions[].values", "spec.podSelector.matchExpressions[].values"}},
		"Remediation":       {among: []string{"spec.prediction.pods = 16 items", "spec.change.limit.to = 4096"}},
		"ShareTree":         {among: []string{"spec.processors = 4096", "spec.workloads = 512 items", "spec.workloads[].utilization = 4096", "spec.groups[0].share = 1000000000"}},
		"TraceReplay":       {among: []string{"spec.arrivals.jobs = 10000000", "spec.nodes[].count = 100000"}, unreached: []string{"spec.policies", "spec.policies[].target"}},
		"WorkloadProfile":   {among: []string{"spec.resources[].threads = 1024", "spec.selector.matchExpressions = 8 items", "spec.work.metrics.matchLabels = 8 items"}, unreached: []string{"spec.measurement.nodes.matchExpressions[].values", "spec.resources", "spec.resources[].demandMillis", "spec.selector.matchExpressions[].values"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var tried []string
			alone := kindOf(t, name).Each(t, object(t, name), func(extreme string, _ *unstructured.Unstructured) { tried = append(tried, extreme) })
			if diff := cmp.Diff(test.unreached, alone.Unreached); diff != "" {
				t.Errorf("fields without an extreme that is admitted (-want +got):\n%s", diff)
			}
			for _, extreme := range test.among {
				if !slices.Contains(tried, extreme) {
					t.Errorf("%s was not tried, but %q", extreme, tried)
				}
			}
			if alone.Tried != len(tried) {
				t.Errorf("%d of %d are counted", alone.Tried, len(tried))
			}
		})
	}
}

// In a pair a list is made longer before its items are changed.
func TestAPairOfAListAndItsItemsSetsAllItems(t *testing.T) {
	t.Parallel()
	tree := &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"name": "company"},
		"spec": map[string]any{"workloads": []any{
			map[string]any{"name": "shop", "share": int64(1), "utilization": "0.1"},
		}},
	}}
	found := false
	kindOf(t, "ShareTree").Pairs(t, tree, 0, func(name string, o *unstructured.Unstructured) {
		if name != "spec.workloads = 512 items, spec.workloads[].utilization = 4096" {
			return
		}
		found = true
		workloads, _, err := unstructured.NestedSlice(o.Object, "spec", "workloads")
		if err != nil {
			t.Fatal(err)
		}
		names := map[any]bool{}
		for _, w := range workloads {
			w, _ := w.(map[string]any)
			names[w["name"]] = true
			if w["utilization"] != "4096" {
				t.Fatalf("a workload is %v", w)
			}
		}
		if len(names) != 512 {
			t.Errorf("%d workloads have %d names", len(workloads), len(names))
		}
	})
	if !found {
		t.Error("the pair was not tried")
	}
}

// The pairs that are drawn are the same each time, so that a failure can be repeated.
func TestPairsAreTheSameEachTime(t *testing.T) {
	t.Parallel()
	kind, profile := kindOf(t, "NodeProfile"), object(t, "NodeProfile")
	draw := func() (names []string) {
		kind.Pairs(t, profile, 20, func(name string, _ *unstructured.Unstructured) { names = append(names, name) })
		return names
	}
	first := draw()
	if diff := cmp.Diff(first, draw()); diff != "" || len(first) == 0 {
		t.Errorf("%d pairs, which differ (-first +second):\n%s", len(first), diff)
	}
}
