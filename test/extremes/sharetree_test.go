package extremes_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/shares"
)

// tree takes profiles of one namespace.
const tree = `
apiVersion: loadline.dev/v1alpha1
kind: ShareTree
metadata: {name: company}
spec:
  processors: 4
  namespaces: [shop]
  groups: [{name: web, share: 2}, {name: batch, share: 1}]
  workloads:
  - {name: own, group: web, share: 1, utilization: "0.1", sla: {maxDilation: "9"}}
  - {name: other, group: batch, share: 1, utilization: "0.1"}
`

// member is a profile in the tree.
const member = `
apiVersion: loadline.dev/v1alpha1
kind: WorkloadProfile
metadata: {name: w, namespace: shop}
spec:
  selector: {matchLabels: {app: w}}
  resources: [{name: cpu, loading: "0.1"}]
  fairShare: {tree: company, group: web, share: 1, utilization: "0.01"}
  sla: {maxDilation: "9"}
`

// read returns the object of a manifest.
func read(t *testing.T, manifest string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(manifest), &o.Object); err != nil {
		t.Fatal(err)
	}
	return o
}

// typed returns an object as its type.
func typed[T any](t *testing.T, o *unstructured.Unstructured) *T {
	t.Helper()
	var object T
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &object); err != nil {
		t.Fatal(err)
	}
	return &object
}

// worst is what took longest, which is reported and not asserted: that depends on the
// machine.
type worst struct {
	took time.Duration
	what string
}

func (w *worst) time(what string, answer func()) {
	start := time.Now()
	answer()
	if took := time.Since(start); took > w.took {
		w.took, w.what = took, what
	}
}

// members are as many profiles as a tree takes, and more, from one.
func members(p *v1alpha1.WorkloadProfile) []v1alpha1.WorkloadProfile {
	const more = 1200
	profiles := make([]v1alpha1.WorkloadProfile, more)
	for i := range profiles {
		p.DeepCopyInto(&profiles[i])
		profiles[i].Name = fmt.Sprintf("w-%04d", i)
	}
	return profiles
}

// mostEvaluations is what one answer of a tree may take.
const mostEvaluations = 150_000_000

// askTree checks an answer of a tree.
func askTree(t *testing.T, what string, slowest *worst, tree *v1alpha1.ShareTree, profiles []v1alpha1.WorkloadProfile) *shares.TreeAnswer {
	t.Helper()
	var a *shares.TreeAnswer
	var err error
	slowest.time(what, func() { a, err = shares.OfTree(t.Context(), shares.TreeInput{Tree: tree, Profiles: profiles}) })
	if err != nil {
		if err.Error() == "" || strings.Contains(err.Error(), "NaN") {
			t.Errorf("%s: it is refused as %q", what, err)
		}
		return nil
	}
	if a.Evaluations > mostEvaluations {
		t.Errorf("%s: it takes %d evaluations", what, a.Evaluations)
	}
	for i := range a.Nodes {
		if f := a.Nodes[i].Factor; f != nil && (math.IsNaN(*f) || math.IsInf(*f, 0)) {
			t.Errorf("%s: %s responds in %v", what, a.Nodes[i].Name, *f)
		}
	}
	return a
}

func TestShareTreesAnswerAtTheExtremesOfTheirFields(t *testing.T) {
	t.Parallel()
	const pairs = 60
	var slowest worst
	profile := typed[v1alpha1.WorkloadProfile](t, read(t, member))
	try := func(what string, o *unstructured.Unstructured) {
		askTree(t, what, &slowest, typed[v1alpha1.ShareTree](t, o), members(profile))
	}
	kind, base := kindOf(t, "ShareTree"), read(t, tree)
	kind.Each(t, base, try)
	kind.Pairs(t, base, pairs, try)
	t.Logf("of trees, %s took longest: %v", slowest.what, slowest.took)
}

// Whatever profiles say, the tree has an answer.
func TestShareTreesAnswerAtTheExtremesOfTheirProfiles(t *testing.T) {
	t.Parallel()
	const pairs = 40
	var slowest worst
	company := typed[v1alpha1.ShareTree](t, read(t, tree))
	try := func(what string, o *unstructured.Unstructured) {
		p := typed[v1alpha1.WorkloadProfile](t, o)
		if a := askTree(t, what, &slowest, company, members(p)); a == nil {
			t.Errorf("%s: there is no answer", what)
		}
	}
	kind, base := kindOf(t, "WorkloadProfile"), read(t, member)
	kind.Each(t, base, try)
	kind.Pairs(t, base, pairs, try)
	t.Logf("of profiles, %s took longest: %v", slowest.what, slowest.took)
}
