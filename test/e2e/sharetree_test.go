//go:build e2e

package e2e

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

func TestAShareTreeTellsItsProfilesWhatTheyGet(t *testing.T) {
	t.Parallel()
	var cart, orders v1alpha1.WorkloadProfile
	cluster.CreateFrom(t, "testdata/sharetree.yaml", cluster.NewNamespace(t), &cart, &orders)
	tree := &v1alpha1.ShareTree{
		ObjectMeta: metav1.ObjectMeta{Name: cart.Spec.FairShare.Tree},
		Spec: v1alpha1.ShareTreeSpec{
			Namespaces: []string{cart.Namespace},
			Groups:     []v1alpha1.ShareGroup{{Name: "web", Share: new(int32(9))}, {Name: "db", Share: new(int32(1))}},
		},
	}
	cluster.Make(t, tree)

	cluster.AwaitCondition(t, tree, &tree.Status.Conditions, v1alpha1.ConditionReady, metav1.ConditionTrue)
	if n := len(tree.Status.Workloads); n != 2 {
		t.Errorf("the tree tells of %d workloads, want 2", n)
	}
	for profile, attainable := range map[*v1alpha1.WorkloadProfile]metav1.ConditionStatus{&cart: metav1.ConditionTrue, &orders: metav1.ConditionFalse} {
		cluster.AwaitCondition(t, profile, &profile.Status.Conditions, v1alpha1.ConditionSLAAttainable, attainable)
	}
}
