package feasibility_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"pgregory.net/rapid"

	"loadline.dev/loadline/pkg/feasibility"
	"loadline.dev/loadline/pkg/node"
)

// constraints are what keeps a pod on some nodes, or others away from them.
var constraints = map[string]func(*corev1.Pod){
	"nothing":            func(*corev1.Pod) {},
	"most of a node":     requesting("1200m"),
	"half a node":        requesting("1"),
	"a port":             hostPort(80),
	"the host's network": hostNetwork(80),
	"apart from its own app, on nodes": func(p *corev1.Pod) {
		apartFrom("app", p.Labels["app"])(p)
	},
	"apart from another app, in zones": func(p *corev1.Pod) {
		apartFrom("app", "x")(p)
		p.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].TopologyKey = corev1.LabelTopologyZone
	},
	"apart from apps of namespaces": func(p *corev1.Pod) {
		apartFrom("app", "y")(p)
		p.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"team": "shop"}}
	},
	"together with another app": togetherWith("app", "y"),
	"together with apps of namespaces, in zones": func(p *corev1.Pod) {
		byNamespace(togetherWith("app", "x"))(p)
		p.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].TopologyKey = corev1.LabelTopologyZone
	},
	"spread over nodes": spread,
	"spread over zones": func(p *corev1.Pod) {
		spread(p)
		p.Spec.TopologySpreadConstraints[0].TopologyKey = corev1.LabelTopologyZone
	},
	"terminating":                  func(p *corev1.Pod) { p.DeletionTimestamp = new(metav1.Unix(1, 0)) },
	"a claim of one pod":           claiming("alone"),
	"a disk":                       claiming("disk-1"),
	"another disk":                 claiming("disk-2"),
	"a disk that is on a node":     claiming("local"),
	"a claim that is not known":    claiming("unknown"),
	"a disk of a cloud, not by us": inline,
	"tolerant": func(p *corev1.Pod) {
		p.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
	},
	"on nodes of a zone": func(p *corev1.Pod) {
		p.Spec.NodeSelector = map[string]string{corev1.LabelTopologyZone: "east"}
	},
	"of a DaemonSet":  func(p *corev1.Pod) { p.OwnerReferences[0].Kind = "DaemonSet" },
	"in another team": func(p *corev1.Pod) { p.Namespace = "bank" },
}

func requesting(cpu string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse(cpu)
	}
}

// inline has a disk that only one pod of a node may write to.
func inline(p *corev1.Pod) {
	p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: "inline", VolumeSource: corev1.VolumeSource{
		ISCSI: &corev1.ISCSIVolumeSource{TargetPortal: "10.0.0.1", IQN: "iqn.2026-01.com.example:disk"},
	}})
}

// drawnPod returns a pod of up to three constraints.
func drawnPod(t *rapid.T, name string) corev1.Pod {
	p := pod(name, "")
	p.Labels["app"] = rapid.SampledFrom([]string{"x", "y", "z"}).Draw(t, "app")
	kinds := slices.Sorted(maps.Keys(constraints))
	for range rapid.IntRange(0, 3).Draw(t, "number of constraints") {
		constraints[rapid.SampledFrom(kinds).Draw(t, "constraint")](&p)
	}
	return p
}

// drawnCluster returns a small cluster of nodes in two zones, which take few pods and few disks.
func drawnCluster(t *rapid.T) *feasibility.Cluster {
	c := &feasibility.Cluster{Others: []runtime.Object{
		claim("alone", "pv-0", func(c *corev1.PersistentVolumeClaim) {
			c.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOncePod}
		}),
		attached("pv-0"), claim("disk-1", "pv-1"), attached("pv-1"), claim("disk-2", "pv-2"), attached("pv-2"), claim("local", "pv-3"), local("pv-3", "n1"),
	}}
	if rapid.Bool().Draw(t, "namespaces are known") {
		for name, team := range map[string]string{"shop": "shop", "bank": "money"} {
			c.Others = append(c.Others, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"team": team}}})
		}
	}
	for i := range rapid.IntRange(1, 4).Draw(t, "nodes") {
		n := nodeNamed(fmt.Sprintf("n%d", i))
		n.Labels[corev1.LabelTopologyZone] = []string{"east", "west"}[i%2]
		n.Status.Allocatable[corev1.ResourcePods] = resource.MustParse(rapid.SampledFrom([]string{"2", "4", "110"}).Draw(t, "pods at most"))
		if rapid.IntRange(0, 4).Draw(t, "tainted") == 0 {
			n.Spec.Taints = []corev1.Taint{{Key: "gpu", Value: "yes", Effect: corev1.TaintEffectNoSchedule}}
		}
		c.Nodes = append(c.Nodes, n)
		c.Others = append(c.Others, attaching(n.Name, int32(rapid.IntRange(1, 2).Draw(t, "disks at most"))))
	}
	for i := range rapid.IntRange(1, 7).Draw(t, "pods") {
		p := drawnPod(t, fmt.Sprintf("p%d", i))
		p.Spec.NodeName = drawnPlace(t, c)
		c.Pods = append(c.Pods, p)
	}
	return c
}

// drawnPlace returns a node, a name that is no node's, or none.
func drawnPlace(t *rapid.T, c *feasibility.Cluster) string {
	places := []string{"", "nowhere"}
	for range 3 {
		for _, n := range c.Nodes {
			places = append(places, n.Name)
		}
	}
	return rapid.SampledFrom(places).Draw(t, "place")
}

// drawnChange returns a pod of the cluster, another one in its place, or a new one, with a place.
func drawnChange(t *rapid.T, c *feasibility.Cluster) (corev1.Pod, string) {
	p := c.Pods[rapid.IntRange(0, len(c.Pods)-1).Draw(t, "pod")]
	switch rapid.SampledFrom([]string{"moves", "moves", "is resized", "is another", "is new"}).Draw(t, "it") {
	case "is resized":
		p = *p.DeepCopy()
		requesting(rapid.SampledFrom([]string{"1m", "500m", "1500m"}).Draw(t, "request"))(&p)
		return p, p.Spec.NodeName
	case "is another":
		p = drawnPod(t, p.Name)
	case "is new":
		p = drawnPod(t, fmt.Sprintf("new-%d", len(c.Pods)))
	}
	return p, drawnPlace(t, c)
}

// changed returns the cluster with a pod on a node, in place of the one of its name.
func changed(c *feasibility.Cluster, p corev1.Pod, on string) *feasibility.Cluster {
	p.Spec.NodeName, p.Status = on, corev1.PodStatus{}
	return &feasibility.Cluster{Nodes: c.Nodes, Pods: append(without(c.Pods, p), p), Others: c.Others}
}

func without(pods []corev1.Pod, p corev1.Pod) []corev1.Pod {
	return slices.DeleteFunc(slices.Clone(pods), func(q corev1.Pod) bool { return q.Name == p.Name && q.Namespace == p.Namespace })
}

// answers are those about all pods and nodes of a cluster.
func answers(f node.Feasibility, c *feasibility.Cluster) map[string]node.Fit {
	all := map[string]node.Fit{}
	for i := range c.Pods {
		verdict := f.Of(&c.Pods[i])
		for _, n := range c.Nodes {
			all[fmt.Sprintf("%s/%s on %s", c.Pods[i].Namespace, c.Pods[i].Name, n.Name)] = verdict(n.Name)
		}
	}
	return all
}

// What the filter says after changes is what a new one says of a cluster that is so, whatever was asked before and after. And what it
// says of a pod is what it says where that is not yet there.
func TestAfterChangesTheAnswersAreThoseOfTheChangedCluster(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		type state struct {
			cluster *feasibility.Cluster
			filter  node.Feasibility
		}
		c := drawnCluster(t)
		states := []state{{c, fromScratch(t, c)}}
		for range rapid.IntRange(0, 4).Draw(t, "changes") {
			from := states[rapid.IntRange(0, len(states)-1).Draw(t, "after")]
			p, on := drawnChange(t, from.cluster)
			states = append(states, state{changed(from.cluster, p, on), from.filter.With(&p, on)})
		}
		for i, s := range slices.Backward(states) {
			if diff := cmp.Diff(answers(fromScratch(t, s.cluster), s.cluster), answers(s.filter, s.cluster)); diff != "" {
				t.Fatalf("after change %d (-anew +changed):\n%s", i, diff)
			}
		}
		last := states[len(states)-1]
		for i := range last.cluster.Pods {
			asked := &last.cluster.Pods[i]
			c := &feasibility.Cluster{Nodes: c.Nodes, Pods: without(last.cluster.Pods, *asked), Others: c.Others}
			alone := fromScratch(t, c).Of(asked)
			verdict := last.filter.Of(asked)
			for _, n := range c.Nodes {
				if diff := cmp.Diff(alone(n.Name), verdict(n.Name)); diff != "" {
					t.Fatalf("of %s on %s (-where it is not yet there +where it is):\n%s", asked.Name, n.Name, diff)
				}
			}
		}
	})
}

func fromScratch(t *rapid.T, c *feasibility.Cluster) *feasibility.Filter {
	f, err := feasibility.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Verdicts that were asked for are those of the cluster at that time, whatever is asked of others in between.
func TestVerdictsOfSeveralStatesMayBeAskedInTurn(t *testing.T) {
	t.Parallel()
	a, b := pod("a", "n1"), pod("b", "n2", apartFrom("app", "a"))
	c := &feasibility.Cluster{Nodes: []corev1.Node{nodeNamed("n1"), nodeNamed("n2")}, Pods: []corev1.Pod{a, b}}
	before := filter(t, c)
	after := before.With(&b, "")
	was, is := before.Of(&a), after.Of(&a)
	for range 2 {
		if got := was("n2").Refused; got != "node(s) didn't satisfy existing pods anti-affinity rules" {
			t.Errorf("while b is on n2: %q", got)
		}
		if got := is("n2").Refused; got != "" {
			t.Errorf("when it is gone: %q", got)
		}
	}
}

// A pod that is resized takes up what it is to have, not what its status says that it had.
func TestAPodThatIsResizedTakesUpWhatItIsToHave(t *testing.T) {
	t.Parallel()
	had := func(p *corev1.Pod) {
		p.Status = corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{{
			Name: "main", AllocatedResources: p.Spec.Containers[0].Resources.Requests, Resources: p.Spec.Containers[0].Resources.DeepCopy(),
		}}}
	}
	large, asked := pod("large", "n1", requesting("1500m"), had), pod("asked", "", requesting("1"))
	c := &feasibility.Cluster{Nodes: []corev1.Node{nodeNamed("n1")}, Pods: []corev1.Pod{large, asked}}
	f := filter(t, c)
	if got, want := f.Of(&asked)("n1").Refused, "Insufficient cpu: the pod requests 1, and 500m is left"; got != want {
		t.Errorf("before: got %q, want %q", got, want)
	}
	small := *large.DeepCopy()
	requesting("900m")(&small)
	if got := f.With(&small, "n1").Of(&asked)("n1"); got != (node.Fit{}) {
		t.Errorf("after: %+v", got)
	}
}

// Whether others are kept apart by the labels of their namespaces, which may not be known, changes with the pods that are.
func TestAPodThatIsGoneRepelsNoOther(t *testing.T) {
	t.Parallel()
	asked, other := pod("asked", ""), pod("other", "n1")
	constraints["apart from apps of namespaces"](&other)
	f := filter(t, &feasibility.Cluster{Nodes: []corev1.Node{nodeNamed("n1")}, Pods: []corev1.Pod{asked, other}})
	for on, known := range map[string]bool{"n1": false, "": true} {
		if got := f.With(&other, on).Of(&asked)("n1"); (got == node.Fit{}) != known {
			t.Errorf("with it on %q: %+v", on, got)
		}
	}
}

// Of two pods of one name the last one is there, and so it is the one that a change replaces.
func TestOfTwoPodsOfOneNameTheLastOneIsThere(t *testing.T) {
	t.Parallel()
	twice := []corev1.Pod{pod("a", "n1", hostPort(80)), pod("a", "n2", hostPort(80))}
	asked := pod("b", "", hostPort(80))
	f := filter(t, &feasibility.Cluster{Nodes: []corev1.Node{nodeNamed("n1"), nodeNamed("n2")}, Pods: twice})
	verdict := f.Of(&asked)
	if got := verdict("n1"); got != (node.Fit{}) {
		t.Errorf("of n1: %+v", got)
	}
	if got := verdict("n2"); got.Refused == "" {
		t.Errorf("of n2: %+v", got)
	}
	if got := f.With(&twice[1], "").Of(&asked)("n2"); got != (node.Fit{}) {
		t.Errorf("of n2 without it: %+v", got)
	}
}
