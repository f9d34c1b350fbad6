//go:build e2e

package e2e

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/test/live"
)

func TestTheServersOfNodesAreFound(t *testing.T) {
	t.Parallel()
	node := reserve(t, 0)[0]
	profile := &v1alpha1.NodeProfile{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "e2e-"},
		Spec: v1alpha1.NodeProfileSpec{
			Selector: live.Named(node),
			Calibration: &v1alpha1.Calibration{
				Resources: []v1alpha1.ProbedResource{{Name: "cpu"}, {Name: "disk"}}, BudgetSeconds: new(int64(20)),
			},
		},
	}
	cluster.Make(t, profile)

	cluster.Await(t, "the servers are found", profile, func() (bool, string) {
		is := meta.FindStatusCondition(profile.Status.Conditions, v1alpha1.ConditionCalibrated)
		switch {
		case is == nil:
			return false, "there is no condition"
		case is.Reason == v1alpha1.ReasonProbeFailed: // which it does where the disk is full
			t.Fatal(is.Message)
		}
		return is.Status == metav1.ConditionTrue, is.Reason + ": " + is.Message
	})
	found := meta.FindStatusCondition(profile.Status.Conditions, v1alpha1.ConditionCalibrated)
	t.Log(found.Message)
	if found.Reason != v1alpha1.ReasonCalibrated || profile.Status.Calibrating != nil {
		t.Errorf("%s: %s; going on: %v", found.Reason, found.Message, profile.Status.Calibrating)
	}
	servers := map[string]int64{}
	for _, r := range profile.Status.Resources {
		servers[r.Name] = int64(*r.Servers)
		if r.Node != node {
			t.Errorf("%s was calibrated on %s, want %s", r.Name, r.Node, node)
		}
	}
	object := live.Node(node)
	must(t, cluster.Get(t.Context(), client.ObjectKeyFromObject(object), object))
	if cores := object.Status.Allocatable.Cpu().Value(); servers["cpu"] != cores {
		t.Errorf("cpu has %d servers, want the %d cores of the node", servers["cpu"], cores)
	}
	if servers["disk"] < 1 {
		t.Errorf("the servers are %v, want some of the disk", servers)
	}
	cluster.AwaitNothingLeft(t, profile.UID)
}
