package workloadprofile_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	testingclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/controllers/sharetree"
)

// inTree is a profile in the tree company, with a limit of its dilation.
func inTree(name, utilization, limit string) *v1alpha1.WorkloadProfile {
	p := declared(name, "app", name, "0.5")
	p.Spec.FairShare = &v1alpha1.FairShare{Tree: "company", Share: new(int32(1)), Utilization: new(resource.MustParse(utilization))}
	p.Spec.SLA = &v1alpha1.SLA{MaxDilation: new(resource.MustParse(limit))}
	return p
}

// withTrees adds the controller of ShareTrees to a cluster, and returns it.
func (c *cluster) withTrees() *sharetree.Reconciler {
	c.Trees = sharetree.NewAnswers()
	return &sharetree.Reconciler{Client: c.Client, Recorder: events.NewFakeRecorder(100), Clock: testingclock.NewFakePassiveClock(noon), Answers: c.Trees}
}

func compute(t *testing.T, trees *sharetree.Reconciler) {
	t.Helper()
	if _, err := trees.Reconcile(t.Context(), reconcile.Request{NamespacedName: types.NamespacedName{Name: "company"}}); err != nil {
		t.Fatal(err)
	}
}

// Whichever controller comes first, a profile costs one request, with all conditions.
func TestAProfileInATreeIsWrittenOnce(t *testing.T) {
	t.Parallel()
	for name, treeFirst := range map[string]bool{"the tree is computed first": true, "the profiles are": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tree := &v1alpha1.ShareTree{ObjectMeta: metav1.ObjectMeta{Name: "company", Generation: 1}, Spec: v1alpha1.ShareTreeSpec{Namespaces: []string{"shop"}}}
			c := newCluster(t, tree, inTree("cart", "0.4", "5"), inTree("orders", "0.4", "1.5"), declared("alone", "app", "alone", "0.5"))
			trees := c.withTrees()
			if !treeFirst {
				if written, _ := c.reconcile(t); !cmp.Equal(written, []string{"alone"}) {
					t.Errorf("written before the tree is computed: %v, want alone", written)
				}
			}
			var all, told []string
			for range 3 {
				compute(t, trees)
				c.taken() // the status of the tree
				written, emitted := c.reconcile(t)
				all, told = append(all, written...), append(told, emitted...)
			}
			want := []string{"cart", "orders"}
			if treeFirst {
				want = []string{"alone", "cart", "orders"}
			}
			if diff := cmp.Diff(want, all); diff != "" {
				t.Errorf("unexpected writes (-want +got):\n%s", diff)
			}
			if len(told) != 1 || !strings.HasPrefix(told[0], `Warning ExceedsSLA ShareTree "company": the mean response time is `) {
				t.Errorf("unexpected events: %q", told)
			}
			for name, reason := range map[string]string{"cart": v1alpha1.ReasonWithinSLA, "orders": v1alpha1.ReasonExceedsSLA} {
				conditions := c.status(t, name).Conditions
				sla := meta.FindStatusCondition(conditions, v1alpha1.ConditionSLAAttainable)
				if sla == nil || sla.Reason != reason || !meta.IsStatusConditionTrue(conditions, v1alpha1.ConditionReady) {
					t.Errorf("unexpected conditions of %s: %+v", name, conditions)
				}
			}
		})
	}
}

func TestAProfileThatLeavesItsTreeLosesTheConditionAtOnce(t *testing.T) {
	t.Parallel()
	cart := inTree("cart", "0.4", "5")
	c := newCluster(t, cart)
	compute(t, c.withTrees())
	c.reconcile(t)
	if sla := meta.FindStatusCondition(c.status(t, "cart").Conditions, v1alpha1.ConditionSLAAttainable); sla == nil || sla.Reason != v1alpha1.ReasonTreeNotFound {
		t.Errorf("unexpected condition %+v", sla)
	}
	if err := c.Patch(t.Context(), cart, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"fairShare":null}}`))); err != nil {
		t.Fatal(err)
	}
	c.reconcile(t)
	if sla := meta.FindStatusCondition(c.status(t, "cart").Conditions, v1alpha1.ConditionSLAAttainable); sla != nil {
		t.Errorf("it has %+v", sla)
	}
}
