package probejob_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadline.dev/loadline/pkg/controllers/probejob"
)

// node is a ready node, but for changes.
func node(change ...func(*corev1.Node)) *corev1.Node {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "worker-1"}}
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	for _, c := range change {
		c(n)
	}
	return n
}

func TestNodesAreUsedThatTakePods(t *testing.T) {
	t.Parallel()
	taint := func(effect corev1.TaintEffect) func(*corev1.Node) {
		return func(n *corev1.Node) { n.Spec.Taints = []corev1.Taint{{Key: "dedicated", Value: "db", Effect: effect}} }
	}
	tests := map[string]struct {
		node       *corev1.Node
		want       string // why not
		staysAlive bool
	}{
		"a ready node":                     {node(), "", true},
		"a node that prefers others":       {node(taint(corev1.TaintEffectPreferNoSchedule)), "", true},
		"no node":                          {nil, "it is no longer there", false},
		"a node that is being deleted":     {node(func(n *corev1.Node) { n.DeletionTimestamp = new(noon) }), "it is being deleted", false},
		"a node that is not ready":         {node(func(n *corev1.Node) { n.Status.Conditions[0].Status = corev1.ConditionUnknown }), "it is not ready", false},
		"a node that has not joined yet":   {node(func(n *corev1.Node) { n.Status.Conditions = nil }), "it is not ready", false},
		"a cordoned node":                  {node(func(n *corev1.Node) { n.Spec.Unschedulable = true }), "it is cordoned", true},
		"a node that takes no new pods":    {node(taint(corev1.TaintEffectNoSchedule)), "it has the taint dedicated=db:NoSchedule", true},
		"a node that throws its pods away": {node(taint(corev1.TaintEffectNoExecute)), "it has the taint dedicated=db:NoExecute", true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if ok, why := probejob.Usable(test.node); ok != (test.want == "") || why != test.want {
				t.Errorf("usable: %v, %q, want %q", ok, why, test.want)
			}
			if ok, _ := probejob.Alive(test.node); ok != test.staysAlive {
				t.Errorf("alive: %v, want %v", ok, test.staysAlive)
			}
		})
	}
}

func TestANodeIsQuietWithoutPodsOfOthers(t *testing.T) {
	t.Parallel()
	ordinary := func(name string, change ...func(*corev1.Pod)) corev1.Pod {
		p := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}, Spec: corev1.PodSpec{NodeName: "worker-1"}}
		for _, c := range change {
			c(&p)
		}
		return p
	}
	ofLoadline := func(p *corev1.Pod) { p.Labels = map[string]string{"app.kubernetes.io/part-of": "loadline"} }
	standing := []corev1.Pod{
		ordinary("daemon", func(p *corev1.Pod) {
			p.OwnerReferences = []metav1.OwnerReference{{Kind: "DaemonSet", Controller: new(true)}}
		}),
		ordinary("static", func(p *corev1.Pod) { p.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: "x"} }),
		ordinary("coredns", func(p *corev1.Pod) { p.Spec.Priority = new(int32(2_000_000_000)) }),
		ordinary("done", func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }),
		ordinary("broken", func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }),
		ordinary("elsewhere", func(p *corev1.Pod) { p.Spec.NodeName = "worker-2" }),
		ordinary("loadline-manager", ofLoadline, func(p *corev1.Pod) { p.Namespace = "loadline-system" }),
	}
	tests := map[string]struct {
		further []corev1.Pod
		want    string // why not
	}{
		"with what belongs to every node": {nil, ""},
		"with a pod of the highest priority that users can give": {
			[]corev1.Pod{ordinary("cart", func(p *corev1.Pod) { p.Spec.Priority = new(int32(1_000_000_000)) })}, "pod shop/cart runs there",
		},
		"with a pod that has the labels of Loadline's elsewhere": {[]corev1.Pod{ordinary("cart", ofLoadline)}, "pod shop/cart runs there"},
		"with another pod in Loadline's namespace": {
			[]corev1.Pod{ordinary("cart", func(p *corev1.Pod) { p.Namespace = "loadline-system" })}, "pod loadline-system/cart runs there",
		},
		"with a pod of another's":                {[]corev1.Pod{ordinary("cart")}, "pod shop/cart runs there"},
		"with a pod that is being deleted still": {[]corev1.Pod{ordinary("cart", deleted)}, "pod shop/cart runs there"},
		"with several":                           {[]corev1.Pod{ordinary("cart"), ordinary("web"), ordinary("db")}, "pod shop/cart and 2 more run there"},
		"with a pod of another measurement": {
			[]corev1.Pod{ordinary("probe", func(p *corev1.Pod) { p.Labels = map[string]string{probejob.MeasurementKey: "other-uid"} })}, "pod shop/probe runs there",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pods := append(append([]corev1.Pod{}, standing...), test.further...)
			if ok, why := probejob.Quiet("worker-1", pods, "loadline-system"); ok != (test.want == "") || why != test.want {
				t.Errorf("quiet: %v, %q, want %q", ok, why, test.want)
			}
		})
	}
}
