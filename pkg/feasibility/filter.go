package feasibility

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	kubescheduler "k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodevolumelimits"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/metrics"

	"loadline.dev/loadline/pkg/node"
)

// Filter asks the filter plugins about the pods and nodes of a cluster. It is a [node.Feasibility], which is, with all that come of
// With, for one goroutine at a time.
type Filter struct {
	framework framework.Framework
	lister    *lister
	known     *known
	placement *placement
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
	placement := c.placement()
	lister, err := newLister(placement)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(quiet())
	asked, err := frameworkruntime.NewFramework(ctx, plugins.NewInTreeRegistry(), profile,
		frameworkruntime.WithSnapshotSharedLister(lister),
		frameworkruntime.WithInformerFactory(factory),
		frameworkruntime.WithSharedCSIManager(nodevolumelimits.NewCSIManager(factory.Storage().V1().CSINodes().Lister())),
		frameworkruntime.WithParallelism(runtime.GOMAXPROCS(0)),
	)
	cancel() // ends the goroutine that hands on measurements of plugins, which are not asked for
	if err != nil {
		return nil, fmt.Errorf("setting up the scheduler's filters: %w", err)
	}
	return &Filter{asked, lister, known, placement}, nil
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
	if why := node.Stays(pod); why != "" {
		return func(name string) node.Fit {
			if name == pod.Spec.NodeName {
				return node.Fit{}
			}
			return node.Fit{Refused: why}
		}
	}
	return f.ask(pod).verdictOn
}

// With returns the filter of the cluster in which the pod runs on a node, in place of the pod of its namespace and name, and in no other
// place: on none where there is no such node. It takes up what its specification says. VolumeAttachments stay where they are.
func (f *Filter) With(pod *corev1.Pod, on string) node.Feasibility {
	return &Filter{f.framework, f.lister, f.known, f.placement.with(pod, on)}
}

// question is a pod that would be scheduled.
type question struct {
	*Filter

	pod       *corev1.Pod // as it would be made anew
	placement *placement  // of the others
	lack      *lack

	state   fwk.CycleState
	refused string // on all nodes
}

// ask runs the part of the plugins that runs once for a pod.
func (f *Filter) ask(pod *corev1.Pod) *question {
	others := f.placement.with(pod, "")
	q := &question{Filter: f, placement: others, lack: f.known.lackOf(pod, others.repelling > 0), state: framework.NewCycleState()}
	q.pod = unscheduled(pod, q.lack.volumes != "")
	q.lister.show(q.placement)
	if _, status, _ := f.framework.RunPreFilterPlugins(quiet(), q.state, q.pod); !status.IsSuccess() {
		q.refused = words(status)
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
	info, err := q.placement.node(name)
	switch {
	case err != nil:
		return node.Fit{Refused: "there is no such node"}
	case q.refused != "":
		return node.Fit{Refused: q.refused}
	}
	q.lister.show(q.placement)
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
