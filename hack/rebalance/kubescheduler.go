package main

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
	"k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodevolumelimits"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/metrics"

	"loadline.dev/loadline/hack/comparison"
)

// kubeScheduler places pods as kube-scheduler does: by the plugins of its default profile, their own code, on a snapshot of the cluster. It
// looks at all nodes for each pod, and takes any of those with the highest score. It does not preempt.
type kubeScheduler struct {
	framework framework.Framework
	nodes     []fwk.NodeInfo // by their names
	ties      *rand.Rand
}

// newKubeScheduler returns the scheduler of a cluster as it is, of which some pods are about to leave their nodes.
func newKubeScheduler(c *cluster, leaving []int, ties *rand.Rand) (*kubeScheduler, error) {
	var nodes []*corev1.Node
	for n := range c.nodes {
		nodes = append(nodes, &c.nodes[n])
	}
	var pods []*corev1.Pod
	for i, n := range c.at {
		if n == comparison.Nowhere {
			continue
		}
		pod := c.pod(i)
		if slices.Contains(leaving, i) {
			pod.DeletionTimestamp = &metav1.Time{Time: time.Unix(0, 0)}
		}
		pods = append(pods, pod)
	}
	factory := informers.NewSharedInformerFactory(nil, 0) // never started: the plugins read what is in its stores
	for _, service := range c.scenario.Services() {
		if err := factory.Core().V1().Services().Informer().GetStore().Add(service); err != nil {
			return nil, err
		}
	}
	config, err := latest.Default()
	if err != nil {
		return nil, fmt.Errorf("reading kube-scheduler's default configuration: %w", err)
	}
	profile := &config.Profiles[0]
	enabled := &profile.Plugins.MultiPoint.Enabled
	for i, p := range slices.Backward(*enabled) {
		if p.Name == names.DynamicResources { // it tracks devices in a cluster, and there are none
			*enabled = slices.Delete(*enabled, i, i+1)
		}
	}
	metrics.Register() // the framework counts what it does; nothing serves that here
	snapshot := cache.NewSnapshot(pods, nodes)
	all, err := snapshot.List()
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b fwk.NodeInfo) int { return cmp.Compare(a.Node().Name, b.Node().Name) })
	k := &kubeScheduler{nodes: all, ties: ties}
	ctx, cancel := context.WithCancel(quiet())
	defer cancel() // ends the goroutine that hands on measurements of plugins
	k.framework, err = frameworkruntime.NewFramework(ctx, plugins.NewInTreeRegistry(), profile,
		frameworkruntime.WithSnapshotSharedLister(snapshot),
		frameworkruntime.WithInformerFactory(factory),
		frameworkruntime.WithSharedCSIManager(nodevolumelimits.NewCSIManager(factory.Storage().V1().CSINodes().Lister())),
		frameworkruntime.WithParallelism(runtime.GOMAXPROCS(0)),
	)
	if err != nil {
		return nil, fmt.Errorf("setting up kube-scheduler's plugins: %w", err)
	}
	return k, nil
}

// quiet returns a context whose logger says nothing.
func quiet() context.Context { return klog.NewContext(context.Background(), logr.Discard()) }

// place places pods that are on no node, one after the other, beside those that leave their nodes at the same time: evicted pods hold what
// they requested until they have ended, and their successors are placed meanwhile. A pod that no node takes stays on none.
func (k *kubeScheduler) place(c *cluster, pods []int) error {
	for _, i := range pods {
		chosen, err := k.choose(c.pod(i))
		if err != nil {
			return fmt.Errorf("placing pod %s: %w", c.scenario.Pods[i].Name, err)
		}
		if chosen == nil {
			continue
		}
		c.at[i] = c.index[chosen.Node().Name]
		placed := c.pod(i)
		placed.UID += "-new" // beside the one that leaves
		info, err := framework.NewPodInfo(placed)
		if err != nil {
			return err
		}
		chosen.AddPodInfo(info)
	}
	return nil
}

// choose returns the node for a pod, nil for none.
func (k *kubeScheduler) choose(pod *corev1.Pod) (fwk.NodeInfo, error) {
	ctx, state := quiet(), framework.NewCycleState()
	if _, status, _ := k.framework.RunPreFilterPlugins(ctx, state, pod); !status.IsSuccess() {
		return nil, status.AsError()
	}
	var fitting []fwk.NodeInfo
	for _, info := range k.nodes {
		switch status := k.framework.RunFilterPlugins(ctx, state, pod, info); {
		case status.IsSuccess():
			fitting = append(fitting, info)
		case !status.IsRejected():
			return nil, status.AsError()
		}
	}
	if len(fitting) == 0 {
		return nil, nil //nolint:nilnil // no node takes the pod: that is no error
	}
	if status := k.framework.RunPreScorePlugins(ctx, state, pod, fitting); !status.IsSuccess() {
		return nil, status.AsError()
	}
	scores, status := k.framework.RunScorePlugins(ctx, state, pod, fitting)
	if !status.IsSuccess() {
		return nil, status.AsError()
	}
	var best []int
	for i := range scores {
		if len(best) > 0 && scores[i].TotalScore > scores[best[0]].TotalScore {
			best = best[:0]
		}
		if len(best) == 0 || scores[i].TotalScore == scores[best[0]].TotalScore {
			best = append(best, i)
		}
	}
	return fitting[best[k.ties.IntN(len(best))]], nil
}
