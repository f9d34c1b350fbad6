package integration

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadline.dev/loadline/hack/cluster/controlplane"
	"loadline.dev/loadline/hack/local"
	"loadline.dev/loadline/test/feature"
)

// rackLabel tells the racks of a place from each other.
const rackLabel = "example.test/rack"

// Of the racks that a pod group fits on, the shipped scheduler takes that in which its slowest member is dilated least: with
// two jobs on a node, 1 + p·p' times. The default of kube-scheduler finds all racks alike.
func TestAPodGroupGoesToTheRackWhereItsSlowestMemberIsDilatedLeast(t *testing.T) {
	t.Parallel()
	apiServer, scheduler := feature.PodGroups(t)
	if apiServer == nil {
		t.Skip("pods are placed one by one")
	}
	e := startEnvironment(t, controlplane.Options{APIServerFlags: apiServer, WithoutControllerManager: true})
	e.schedulerFlags = append(e.schedulerFlags, scheduler...)

	racks := []map[string]string{{"disk": "1"}, {"disk": "0.6"}, {"cpu": "0.2"}, {"cpu": "0.9"}}
	p := e.newPlace(t, 2*len(racks))
	must(t, p.Create(t.Context(), p.oneCore()))
	must(t, p.Create(t.Context(), p.profile("filecomp", papers["filecomp"])))
	for i, loadings := range racks {
		app := fmt.Sprintf("resident-%d", i)
		must(t, p.Create(t.Context(), p.profile(app, loadings)))
		for k := range 2 {
			p.setRack(t, p.nodes[2*i+k], i)
			resident := p.pod(fmt.Sprintf("%s-%d", app, k), app)
			resident.Spec.NodeName = p.nodes[2*i+k]
			must(t, p.Create(t.Context(), resident))
		}
	}
	profiles, err := local.ShippedProfiles(root)
	must(t, err)
	p.startScheduler(t, profiles)

	// The jobs of a group are {cpu: 0.58, disk: 0.42}. Beside the residents that is 1.42, 1.25, 1.12 and 1.52; on a node that
	// has one of them already, more than 1.5. A member that did not see the other would go to its node half of the time.
	bound := 2 * len(racks)
	for group, want := range []int{2, 1, 0} {
		name := fmt.Sprintf("group-%d", group)
		must(t, p.Create(t.Context(), podGroup(p.namespace, name, 2)))
		for member := range 2 {
			pod := p.pod(fmt.Sprintf("%s-%d", name, member), "filecomp")
			pod.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: &name}
			must(t, p.Create(t.Context(), pod))
		}
		bound += 2
		on := p.awaitBound(t, bound)
		first, second := on[name+"-0"], on[name+"-1"]
		if first == second || first != p.nodes[2*want] && first != p.nodes[2*want+1] || second != p.nodes[2*want] && second != p.nodes[2*want+1] {
			t.Errorf("the members of %s are on %s and %s, want both nodes of rack %d: %v", name, first, second, want, p.nodes[2*want:2*want+2])
		}
	}
}

// podGroup is a group that is placed with a number of pods in one rack, or not at all.
func podGroup(namespace, name string, members int32) *schedulingv1beta1.PodGroup {
	return &schedulingv1beta1.PodGroup{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: schedulingv1beta1.PodGroupSpec{
			SchedulingPolicy:      schedulingv1beta1.PodGroupSchedulingPolicy{Gang: &schedulingv1beta1.GangSchedulingPolicy{MinCount: members}},
			SchedulingConstraints: &schedulingv1beta1.PodGroupSchedulingConstraints{Topology: []schedulingv1beta1.TopologyConstraint{{Key: rackLabel}}},
		},
	}
}

// setRack puts a node into a rack.
func (p *place) setRack(t *testing.T, node string, rack int) {
	t.Helper()
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node}}
	p.change(t, n, func() { n.Labels[rackLabel] = fmt.Sprint(rack) })
}
