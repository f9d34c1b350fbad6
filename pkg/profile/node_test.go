package profile_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/profile"
)

func TestAnInvalidNodeProfileIsRefusedByFieldValueAndRule(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		spec v1alpha1.NodeProfileSpec
		want []string
	}{
		"no selector": {
			v1alpha1.NodeProfileSpec{Resources: []v1alpha1.ResourceServers{servers("cpu", 1)}},
			[]string{"spec.selector: Required value: say which labels to match; {} matches all"},
		},
		"no resources": {
			v1alpha1.NodeProfileSpec{Selector: app("big")},
			[]string{"spec.resources: Required value: list at least one resource, or say under spec.calibration which to measure"},
		},
		"a label value": {
			v1alpha1.NodeProfileSpec{Selector: app("big one"), Resources: []v1alpha1.ResourceServers{servers("cpu", 1)}},
			[]string{`spec.selector.matchLabels: Invalid value: "big one": ` + notAValue},
		},
		"no number of servers": {
			v1alpha1.NodeProfileSpec{Selector: app("big"), Resources: []v1alpha1.ResourceServers{{Name: "cpu"}}},
			[]string{"spec.resources[0].servers: Invalid value: 0: is not between 1 and 16384"},
		},
		"no servers": {
			v1alpha1.NodeProfileSpec{Selector: app("big"), Resources: []v1alpha1.ResourceServers{servers("cpu", 16), servers("gpu", 0)}},
			[]string{"spec.resources[1].servers: Invalid value: 0: is not between 1 and 16384"},
		},
		"too many servers": {
			v1alpha1.NodeProfileSpec{Selector: app("big"), Resources: []v1alpha1.ResourceServers{servers("cpu", 16385)}},
			[]string{"spec.resources[0].servers: Invalid value: 16385: is not between 1 and 16384"},
		},
		"less than no servers": {
			v1alpha1.NodeProfileSpec{Selector: app("big"), Resources: []v1alpha1.ResourceServers{servers("cpu", -1)}},
			[]string{"spec.resources[0].servers: Invalid value: -1: is not between 1 and 16384"},
		},
		"one name twice": {
			v1alpha1.NodeProfileSpec{Selector: app("big"), Resources: []v1alpha1.ResourceServers{servers("cpu", 1), servers("cpu", 2)}},
			[]string{`spec.resources[1].name: Duplicate value: "cpu"`},
		},
		"a Unicode name of a calibrated resource": {
			v1alpha1.NodeProfileSpec{Selector: app("big"), Calibration: &v1alpha1.Calibration{Resources: []v1alpha1.ProbedResource{{Name: "ディスク"}}}},
			[]string{`spec.calibration.resources[0].name: Invalid value: "ディスク": ` + notALabel},
		},
		"a Unicode name": {
			v1alpha1.NodeProfileSpec{Selector: app("big"), Resources: []v1alpha1.ResourceServers{servers("ディスク", 1)}},
			[]string{`spec.resources[0].name: Invalid value: "ディスク": ` + notALabel},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := machines("big")
			p.Spec = test.spec
			class, errs := profile.NewNodeClass(p)
			if class != nil {
				t.Errorf("in use as %+v", class)
			}
			if diff := cmp.Diff(test.want, messages(errs)); diff != "" {
				t.Errorf("unexpected errors (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheResourcesAreTheBuiltInOnesAndThoseThatNodeProfilesName(t *testing.T) {
	t.Parallel()
	x := indexOf(
		machines("a", servers("gpu", 8), servers("cpu", 4)),
		machines("b", servers("fpga", 1), servers("gpu", 4)),
		calibrated(machines("c"), "nvme"),
		machines("invalid", servers("tape", 0)),
	)
	want := []string{"cpu", "disk", "network", "memory-bandwidth", "llc", "fpga", "gpu", "nvme"}
	if diff := cmp.Diff(want, x.Snapshot().Resources().Names()); diff != "" {
		t.Errorf("unexpected resources (-want +got):\n%s", diff)
	}
}

func TestDeclaredServersCountMoreThanCalibratedOnesAndTheseMoreThanTheDefault(t *testing.T) {
	t.Parallel()
	withdrawn := calibrated(machines("withdrawn", servers("network", 2)), "disk", 6)
	withdrawn.Spec.Calibration = nil
	x := indexOf(
		calibrated(machines("both", servers("disk", 4)), "disk", 6),
		calibrated(calibrated(machines("one", servers("network", 2)), "cpu"), "disk", 6),
		calibrated(machines("none"), "disk"),
		withdrawn,
	)
	for name, want := range map[string][]int{ // cpu, disk, network, memory-bandwidth, llc
		"both": {16, 4, 1, 1, 1}, "one": {16, 6, 2, 1, 1}, "none": {16, 1, 1, 1, 1}, "withdrawn": {16, 1, 2, 1, 1},
	} {
		if diff := cmp.Diff(want, x.Snapshot().Servers(node(name, "16"))); diff != "" {
			t.Errorf("%s: unexpected servers (-want +got):\n%s", name, diff)
		}
	}
}

func TestANodeHasTheServersOfItsProfileElseItsCoresAndOneOfTheRest(t *testing.T) {
	t.Parallel()
	x := indexOf(machines("big", servers("disk", 4), servers("gpu", 8)), machines("pinned", servers("cpu", 2)))
	tests := map[string]struct {
		node *corev1.Node
		want []int // cpu, disk, network, memory-bandwidth, llc, gpu
	}{
		"a node with a profile":          {node("big", "16"), []int{16, 4, 1, 1, 1, 8}},
		"a profile that counts the cpus": {node("pinned", "16"), []int{2, 1, 1, 1, 1, 1}},
		"a node without a profile":       {node("other", "32"), []int{32, 1, 1, 1, 1, 1}},
		"most of a core is a core":       {node("other", "3920m"), []int{4, 1, 1, 1, 1, 1}},
		"less than half a core is none":  {node("other", "4400m"), []int{4, 1, 1, 1, 1, 1}},
		"a node has at least one core":   {node("other", "100m"), []int{1, 1, 1, 1, 1, 1}},
		"a node that says nothing":       {&corev1.Node{}, []int{1, 1, 1, 1, 1, 1}},
		"a node beyond belief":           {node("other", "1e400"), []int{16384, 1, 1, 1, 1, 1}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, x.Snapshot().Servers(test.node)); diff != "" {
				t.Errorf("unexpected servers (-want +got):\n%s", diff)
			}
		})
	}
}
