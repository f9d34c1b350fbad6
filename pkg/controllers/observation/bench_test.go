package observation

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	testingclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/gauge/collect"
	"loadline.dev/loadline/pkg/gauge/collected"
	"loadline.dev/loadline/pkg/gauge/usage"
)

// oneNode reads a node, and a list of its pods that is made anew each time, as package pods does.
type oneNode struct {
	client.Reader

	node *corev1.Node
	pods []corev1.Pod
}

func (n *oneNode) Get(_ context.Context, _ client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	node, is := into.(*corev1.Node)
	if !is {
		return fmt.Errorf("a %T is read", into)
	}
	n.node.DeepCopyInto(node)
	return nil
}

func (n *oneNode) RunningOnNode(_ context.Context, _ string, into []corev1.Pod) ([]corev1.Pod, error) {
	return append(into[:0], n.pods...), nil
}

func (n *oneNode) RunningInNamespace(context.Context, string) ([]corev1.Pod, error) { return nil, nil }

// BenchmarkReceive takes what the gauge of a node with 30 pods, which follow ten profiles, observed in a round of three intervals, with the
// history of an hour that the manager keeps for others. Each fourth round predicts.
func BenchmarkReceive(b *testing.B) {
	const pods, profiles = 30, 10
	now := testingclock.NewFakeClock(time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC))
	site := &oneNode{node: node()}
	c := &Controller{
		Clock: now, Metrics: NewMetrics(prometheus.NewRegistry()), Sites: &Sites{Nodes: site, Pods: site}, Collected: collected.New(now), Work: &WorkReader{Clock: now},
	}
	if err := c.prepare(logr.Discard()); err != nil {
		b.Fatal(err)
	}
	intervals := make([]usage.Interval, 3)
	for i := range profiles {
		c.index.OnAdd(&v1alpha1.WorkloadProfile{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: fmt.Sprintf("app-%d", i)},
			Spec: v1alpha1.WorkloadProfileSpec{
				Selector:  &metav1.LabelSelector{MatchLabels: map[string]string{"app": fmt.Sprintf("app-%d", i)}},
				Resources: []v1alpha1.ResourceDemand{{Name: "cpu", Loading: new(resource.MustParse("0.3"))}},
			},
		}, true)
	}
	for i := range pods {
		p := pod(fmt.Sprintf("app-%d-5d8b6c7f9-%05d", i%profiles, i), fmt.Sprintf("app-%d", i%profiles))
		p.UID = types.UID(fmt.Sprintf("%08d-0000-4000-8000-000000000000", i))
		p.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m")}
		site.pods = append(site.pods, *p)
		for k := range intervals {
			intervals[k].Pods = append(intervals[k].Pods, usage.Pod{
				UID: string(p.UID), Namespace: p.Namespace, Name: p.Name, Seconds: 10, Times: usage.Times{Run: 2, Wait: 0.5}, Tasks: 4, Threads: 1,
				Dilation: 1.25, CPULoading: 0.25, BurstSeconds: 0.002, PressureSeconds: new(0.5), BlockedBy: usage.ByTasks,
			})
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		now.Step(collect.Period)
		for k := range intervals {
			v := &intervals[k]
			v.Node, v.Seconds, v.CPUs, v.BusySeconds, v.CgroupVersion = nodeName, 10, 8, 60, 2
			v.End = now.Now().Add(time.Duration(k-len(intervals)+1) * 10 * time.Second)
			v.Start = v.End.Add(-10 * time.Second)
		}
		c.Receive(b.Context(), &collect.Observed{Gauge: collect.Gauge{ID: "gauge", Node: nodeName}, Intervals: intervals, Ended: now.Now()})
		c.Collected.EndRound(nil)
	}
}
