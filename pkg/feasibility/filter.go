package feasibility

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	kubescheduler "k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
	"k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodevolumelimits"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/metrics"

	"loadline.dev/loadline/pkg/node"
)

// Filter asks the filter plugins about the pods and nodes of a snapshot. It is a [node.Feasibility], for one goroutine at a time.
type Filter struct {
	framework framework.Framework
	snapshot  *cache.Snapshot
	known     *known
}

var _ node.Feasibility = &Filter{}

// New returns the filter of a cluster, whose objects must not change while it is used. An error is one of the plugins' own.
func New(c *Cluster) (*Filter, error) {
	factory := informers.NewSharedInformerFactory(nil, 0) // never started: the plugins read what is in its stores
	known, err := c.store(factory)
	if err != nil {
		return nil, err
	}
	profile, err := defaultProfile()
	if err != nil {
		return nil, err
	}
	metrics.Register() // the framework counts what it does; nothing serves that here
	ctx, cancel := context.WithCancel(quiet())
	snapshot := c.snapshot()
	asked, err := frameworkruntime.NewFramework(ctx, plugins.NewInTreeRegistry(), profile,
		frameworkruntime.WithSnapshotSharedLister(snapshot),
		frameworkruntime.WithInformerFactory(factory),
		frameworkruntime.WithSharedCSIManager(nodevolumelimits.NewCSIManager(factory.Storage().V1().CSINodes().Lister())),
		frameworkruntime.WithParallelism(runtime.GOMAXPROCS(0)),
	)
	cancel() // ends the goroutine that hands on measurements of plugins, which are not asked for
	if err != nil {
		return nil, fmt.Errorf("setting up the scheduler's filters: %w", err)
	}
	return &Filter{asked, snapshot, known}, nil
}

// defaultProfile returns the profile that kube-scheduler has without a configuration, but for the plugin that needs to track devices.
func defaultProfile() (*kubescheduler.KubeSchedulerProfile, error) {
	config, err := latest.Default()
	if err != nil {
		return nil, fmt.Errorf("reading the scheduler's default configuration: %w", err)
	}
	profile := &config.Profiles[0]
	enabled := &profile.Plugins.MultiPoint.Enabled
	*enabled = slices.DeleteFunc(*enabled, func(p kubescheduler.Plugin) bool { return p.Name == names.DynamicResources })
	return profile, nil
}

// quiet returns a context whose logger says nothing: what a plugin has to say of a node is in its status.
func quiet() context.Context { return klog.NewContext(context.Background(), logr.Discard()) }

// Of returns the scheduler's verdict on each node, by its name, if the pod were created anew: it does not count where it is now.
func (f *Filter) Of(pod *corev1.Pod) func(name string) node.Fit {
	if why := stays(pod); why != "" {
		return func(name string) node.Fit {
			if name == pod.Spec.NodeName {
				return node.Fit{}
			}
			return node.Fit{Refused: why}
		}
	}
	return f.ask(pod).verdictOn
}

// stays says why a pod runs on its node and on no other, "" where a scheduler decides.
func stays(pod *corev1.Pod) string {
	owner := metav1.GetControllerOf(pod)
	switch {
	case pod.Spec.NodeName == "":
		return ""
	case static(pod, owner):
		return fmt.Sprintf("it is a static pod, which the kubelet of %s runs: no scheduler places it", pod.Spec.NodeName)
	case owner != nil && owner.Kind == "DaemonSet":
		return fmt.Sprintf("DaemonSet %s has a pod for each of its nodes: this one is for %s", owner.Name, pod.Spec.NodeName)
	default:
		return ""
	}
}

// static reports whether a pod stands in the API for one that a kubelet runs from a file of its node.
func static(pod *corev1.Pod, owner *metav1.OwnerReference) bool {
	_, mirrors := pod.Annotations[corev1.MirrorPodAnnotationKey]
	return mirrors || owner != nil && owner.Kind == "Node"
}

// question is a pod that would be scheduled.
type question struct {
	*Filter

	pod  *corev1.Pod // as it would be made anew
	was  *corev1.Pod // as it is on its node, nil for none
	lack *lack

	state   fwk.CycleState
	refused string // on all nodes
}

// ask runs the part of the plugins that runs once for a pod.
func (f *Filter) ask(pod *corev1.Pod) *question {
	q := &question{Filter: f, lack: f.known.lackOf(pod), state: framework.NewCycleState()}
	q.pod = unscheduled(pod, q.lack.volumes != "")
	ctx := quiet()
	_, status, _ := f.framework.RunPreFilterPlugins(ctx, q.state, q.pod)
	if !status.IsSuccess() {
		q.refused = words(status)
		return q
	}
	here, err := f.snapshot.Get(pod.Spec.NodeName)
	if err != nil { // it is on no node
		return q
	}
	for _, there := range here.GetPods() {
		if p := there.GetPod(); p.Name == pod.Name && p.Namespace == pod.Namespace {
			q.was = p
			if status := f.framework.RunPreFilterExtensionRemovePod(ctx, q.state, q.pod, there, here); !status.IsSuccess() {
				q.refused = words(status)
			}
			break
		}
	}
	return q
}

// unscheduled returns a pod as it comes to a scheduler: on no node. Without volumes it is one of whose volumes too little is known.
func unscheduled(pod *corev1.Pod, withoutVolumes bool) *corev1.Pod {
	made := *defaulted(pod)
	made.Spec.NodeName, made.Status = "", corev1.PodStatus{}
	if withoutVolumes {
		made.Spec.Volumes = nil
	}
	return &made
}

// verdictOn returns the scheduler's verdict on a node.
func (q *question) verdictOn(name string) node.Fit {
	info, err := q.snapshot.Get(name)
	switch {
	case err != nil:
		return node.Fit{Refused: "there is no such node"}
	case q.refused != "":
		return node.Fit{Refused: q.refused}
	case q.was != nil && q.was.Spec.NodeName == name:
		info = without(info, q.was)
	}
	status := q.framework.RunFilterPlugins(quiet(), q.state, q.pod, info)
	switch {
	case status.IsSuccess():
		return node.Fit{Unknown: cmp.Or(q.lack.volumes, q.lack.labels, q.lack.devices, q.lack.attaching(name))}
	case status.Plugin() == names.InterPodAffinity && q.lack.labels != "":
		return node.Fit{Unknown: q.lack.labels}
	default:
		return node.Fit{Refused: wordsOf(status, q.pod, info)}
	}
}

// without returns a node without one of its pods.
func without(info fwk.NodeInfo, pod *corev1.Pod) fwk.NodeInfo {
	rest := framework.NewNodeInfo()
	for _, p := range info.GetPods() {
		if p.GetPod() != pod {
			rest.AddPod(p.GetPod())
		}
	}
	rest.SetNode(info.Node())
	return rest
}
