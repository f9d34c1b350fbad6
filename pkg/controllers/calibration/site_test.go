package calibration

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

func TestACalibrationBeginsOnTheBestNodeThatCanBeUsed(t *testing.T) {
	t.Parallel()
	cordoned := func(name string) corev1.Node {
		n := ready(name)
		n.Spec.Unschedulable = true
		return *n
	}
	a, b, c := *ready("a"), *ready("b"), *ready("c")
	lost := func(p *v1alpha1.NodeProfile) {
		p.Status.Calibrating = &v1alpha1.CalibrationProgress{Resource: "cpu", Node: "a", Attempts: new(int32(2))}
	}
	used := func(p *v1alpha1.NodeProfile) {
		p.Status.Resources = []v1alpha1.CalibratedResource{{Name: "disk", Node: "c"}}
	}
	tests := map[string]struct {
		class  []corev1.Node
		held   string
		change func(*v1alpha1.NodeProfile)
		want   []string
		none   problem
	}{
		"the nodes in order":              {class: []corev1.Node{b, a}, want: []string{"a", "b"}},
		"that of the other results first": {class: []corev1.Node{a, b, c}, change: used, want: []string{"c", "a", "b"}},
		"that of a lost run last":         {class: []corev1.Node{a, b}, change: lost, want: []string{"b", "a"}},
		"none that is cordoned":           {class: []corev1.Node{cordoned("a"), b}, want: []string{"b"}},
		"none that another uses":          {class: []corev1.Node{a, b}, held: "a", want: []string{"b"}},
		"no node of the class":            {none: problem{v1alpha1.ReasonNoNode, "no node follows this profile"}},
		"no node that takes pods": {
			class: []corev1.Node{cordoned("a"), cordoned("b"), cordoned("c"), cordoned("d")},
			none: problem{
				reason:  v1alpha1.ReasonNoNode,
				message: "no node that follows this profile takes pods that tolerate no taints: node a: it is cordoned, node b: it is cordoned, node c: it is cordoned and 1 more",
			},
		},
		"no node that is free": {class: []corev1.Node{a}, held: "a", none: queued()},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := &input{profile: fast(), now: metav1.NewTime(time.Unix(0, 0))}
			if test.change != nil {
				test.change(in.profile)
			}
			got, none := in.candidates(test.class, func(node string) bool { return node != test.held })
			if diff := cmp.Diff(test.want, got); diff != "" || none != test.none {
				t.Errorf("unexpected nodes (-want +got):\n%s and %+v, want %+v", diff, none, test.none)
			}
		})
	}
}

func TestEveryNodeOfALargeClassGetsLookedAtInTime(t *testing.T) {
	t.Parallel()
	looked := map[string]bool{}
	for turn := range 3 {
		var class []corev1.Node
		for i := range 50 {
			class = append(class, *ready(string(rune('A' + i))))
		}
		in := &input{profile: fast(), now: metav1.NewTime(time.Unix(0, 0).Add(time.Duration(turn) * waitEvery))}
		names, _ := in.candidates(class, func(string) bool { return true })
		for _, name := range names[:maxLooks] {
			looked[name] = true
		}
	}
	if len(looked) != 50 {
		t.Errorf("%d of 50 nodes were looked at in three turns", len(looked))
	}
}

func TestANodeIsCalibratedForTheProfileThatItFollows(t *testing.T) {
	t.Parallel()
	special := fast()
	special.Name = "special"
	special.Spec.Selector.MatchLabels["disk"] = "nvme"
	invalid := fast()
	invalid.Name, invalid.Spec.Selector = "invalid", nil
	a, b, c := *ready("a"), *ready("b"), corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "c"}}
	b.Labels["disk"] = "nvme"
	for profile, want := range map[string][]string{"fast": {"a"}, "special": {"b"}, "invalid": nil} {
		var got []string
		for _, n := range followers(profile, []v1alpha1.NodeProfile{*fast(), *special, *invalid}, []corev1.Node{a, b, c}) {
			got = append(got, n.Name)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("the nodes of %s (-want +got):\n%s", profile, diff)
		}
	}
}
