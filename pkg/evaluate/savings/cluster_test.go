package savings_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"loadline.dev/loadline/apis/config"
	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/savings"
	"loadline.dev/loadline/test/given"
)

func nodeNamed(name, cores string) corev1.Node {
	n := corev1.Node{Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cores)}}}
	n.Name = name
	return n
}

// podOn returns a pod of an application.
func podOn(node, app, scheduler string) corev1.Pod {
	p := corev1.Pod{Spec: corev1.PodSpec{NodeName: node, SchedulerName: scheduler, Containers: []corev1.Container{{Name: "main"}}}}
	p.Namespace, p.Name, p.Labels = "shop", app+"-on-"+node, map[string]string{"app": app}
	return p
}

// pair is a cluster of two nodes with a core and a disk each: on one, two pods compute all the time, and on the other a pod reads all
// the time.
func pair(t *testing.T) *savings.Cluster {
	t.Helper()
	args, err := config.LoadDilationArgs(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &savings.Cluster{
		Nodes: []corev1.Node{nodeNamed("worker-1", "1"), nodeNamed("worker-2", "1")}, AllNodes: 2,
		Pods:      []corev1.Pod{podOn("worker-1", "sort", ""), podOn("worker-1", "sort", "loadline"), podOn("worker-2", "read", "loadline")},
		Workloads: []v1alpha1.WorkloadProfile{given.Workload("sort", 0, given.CPU("1")), given.Workload("read", 0, given.Disk("1"))},
		Requests:  args.Requests, Schedulers: []string{"loadline"},
	}
}

// By hand: the two that share a core take twice as long, and the third is alone. Of the three pairs of pods, one is alike.
func TestContentionIsThatOfThePodsOfAllNodes(t *testing.T) {
	t.Parallel()
	want := &savings.Contention{
		Nodes: 2, AllNodes: 2, Pods: 3, ByDilation: 2, ExcessDilation: 2.0 / 3,
		Point: savings.Point{Load: 1, PodsPerCore: 1.5, Unlikeness: 2.0 / 3},
	}
	if diff := cmp.Diff(want, pair(t).Contention(), cmpopts.EquateApprox(0, 1e-6)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestWhatDoesNotContendDoesNotCount(t *testing.T) {
	t.Parallel()
	want := pair(t).Contention()
	for name, change := range map[string]func(c *savings.Cluster){
		"a pod that has ended": func(c *savings.Cluster) {
			ended := podOn("worker-2", "sort", "")
			ended.Status.Phase = corev1.PodSucceeded
			c.Pods = append(c.Pods, ended)
		},
		"a pod that waits for a node":       func(c *savings.Cluster) { c.Pods = append(c.Pods, podOn("", "sort", "")) },
		"a pod of a node that is not there": func(c *savings.Cluster) { c.Pods = append(c.Pods, podOn("worker-9", "sort", "")) },
	} {
		c := pair(t)
		change(c)
		if diff := cmp.Diff(want, c.Contention(), cmpopts.EquateApprox(0, 1e-9)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

func TestPodsWithoutAProfileCountByTheirRequests(t *testing.T) {
	t.Parallel()
	c := pair(t)
	c.Workloads = c.Workloads[1:]
	if got := c.Contention(); got.WithoutProfile != 2 || got.Pods != 3 || !(got.Load < 1.1) {
		t.Errorf("%+v", got)
	}
}

func TestWithoutPodsThereIsNoContention(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(c *savings.Cluster){
		"no pods":  func(c *savings.Cluster) { c.Pods = nil },
		"no nodes": func(c *savings.Cluster) { c.Nodes = nil },
		"nodes without a core": func(c *savings.Cluster) {
			c.Nodes = nil
			c.Pods = []corev1.Pod{podOn("", "sort", "")}
		},
	} {
		c := pair(t)
		change(c)
		if got := c.Contention(); got != nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// Thousands of unlike pods on a node are more than the accurate model takes on where many nodes are asked about.
func TestANodeThatTakesTooLongIsLeftOut(t *testing.T) {
	t.Parallel()
	c := pair(t)
	c.Nodes, c.AllNodes = append(c.Nodes, nodeNamed("worker-3", "500")), 3
	for i := range 3000 {
		app := fmt.Sprintf("app-%d", i)
		c.Pods = append(c.Pods, podOn("worker-3", app, ""))
		if i < 500 {
			c.Workloads = append(c.Workloads, given.Workload(app, 0, given.CPU(fmt.Sprintf("0.%03d", i+1)), given.Disk("0.1")))
		}
	}
	want := pair(t).Contention()
	want.AllNodes = 3
	if diff := cmp.Diff(want, c.Contention(), cmpopts.EquateApprox(0, 1e-9)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestALargeClusterIsSampledEvenly(t *testing.T) {
	t.Parallel()
	var nodes []corev1.Node
	for i := range 5000 {
		nodes = append(nodes, nodeNamed(fmt.Sprintf("node-%04d", (i*7919)%5000), "8"))
	}
	for i := range 3 {
		own := nodeNamed(fmt.Sprintf("control-plane-%d", i), "8")
		own.Spec.Taints = []corev1.Taint{{Key: "node-role.kubernetes.io/control-plane", Effect: corev1.TaintEffectNoSchedule}}
		nodes = append(nodes, own)
	}
	sample, all := savings.Sample(nodes)
	if all != 5000 || len(sample) != savings.MaxNodes {
		t.Fatalf("%d of %d", len(sample), all)
	}
	for i := range sample {
		if want := fmt.Sprintf("node-%04d", i*5000/savings.MaxNodes); sample[i].Name != want {
			t.Errorf("number %d is %s, want %s", i, sample[i].Name, want)
		}
	}
	for n := range 3 {
		if sample, all := savings.Sample(nodes[:n]); len(sample) != n || all != n {
			t.Errorf("of %d nodes: %d of %d", n, len(sample), all)
		}
	}
}
