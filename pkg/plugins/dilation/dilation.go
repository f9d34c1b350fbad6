// Package dilation is the scheduler plugin that puts a pod on the node where it
// and its neighbours are slowed down least, and on none where one of them would be
// slowed down more than its bound allows.
//
// PreFilter resolves the pod's profile; Filter checks the bounds of the pod and of those
// on the node, mostly by a bound from above, else by the accurate model (see residents).
// PreScore resolves the pod's vector, on each class of nodes that it was measured
// on, and what weight and limit at the processor its requests and limits make; Score
// multiplies that of the node's class with the prices of the node, two dot products
// (see package contention), after pricing the node again if its pods, or what they follow, have
// changed; nodes that are alike are priced once (see kinds). What Filter and Score find for one
// pod holds for the next of its kind until then, and is looked up without a lock or an allocation
// (see nodeTable). NormalizeScore maps the costs to the framework's range. The framework's
// snapshot, which counts assumed pods, is the only source of which pod is where: there is no
// informer lag, and in a burst each pod sees all those before it.
// PostFilter says what would make room for a pod that no node takes, which then waits
// (see waiting); PostBind says in an event what is predicted for a pod that was placed.
package dilation

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/time/rate"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"

	"loadline.dev/loadline/apis/config"
	configv1alpha1 "loadline.dev/loadline/apis/config/v1alpha1"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/node"
	"loadline.dev/loadline/pkg/profile"
)

// Name is the plugin's name in a scheduler configuration.
const Name = "Dilation"

// Dilation is the plugin. See the package comment.
type Dilation struct {
	args     *config.DilationArgs
	index    *profile.Index
	cluster  fwk.SharedLister
	modes    *modes
	waiting  *waiting
	recorder events.EventRecorder
	events   flowcontrol.PassiveRateLimiter // nil if there are to be none

	nodes   *nodeTable
	kinds   *kinds
	budget  *rate.Limiter // what all cycles may work out: see budget
	cost    func(context.Context, *cycle, fwk.NodeInfo) float64
	packs   bool   // whether costs are by packing, and have to be confirmed
	version uint64 // of the profiles that the metrics are about
}

var (
	_ fwk.PreFilterPlugin   = &Dilation{}
	_ fwk.FilterPlugin      = &Dilation{}
	_ fwk.PostFilterPlugin  = &Dilation{}
	_ fwk.EnqueueExtensions = &Dilation{}
	_ fwk.PreScorePlugin    = &Dilation{}
	_ fwk.ScorePlugin       = &Dilation{}
	_ fwk.ScoreExtensions   = &Dilation{}
	_ fwk.ReservePlugin     = &Dilation{}
	_ fwk.PostBindPlugin    = &Dilation{}
	_ fwk.SignPlugin        = &Dilation{}
)

// New returns the plugin for a scheduler, reading profiles from the scheduler's
// API server. It waits for them for as long as the arguments say, and begins
// without them if they do not come.
func New(ctx context.Context, obj runtime.Object, handle fwk.Handle) (fwk.Plugin, error) {
	args, err := config.LoadDilationArgs(obj)
	if err != nil {
		return nil, err
	}
	registerMetrics()
	log := klog.FromContext(ctx).WithName(Name)
	index := profile.NewIndex(args.Requests, log)
	d := newPlugin(args, index, handle.SnapshotSharedLister(), newWaiting(handle, log), log)
	d.recorder = handle.EventRecorder()
	if err := d.watch(handle.SharedInformerFactory()); err != nil {
		return nil, err
	}
	index.Notify(d.waiting.changed)
	go d.waiting.run(ctx)
	synced, err := index.Watch(ctx, handle.KubeConfig())
	if err != nil {
		return nil, err
	}
	waiting, cancel := context.WithTimeout(ctx, time.Duration(args.SyncTimeoutSeconds)*time.Second)
	defer cancel()
	if !cache.WaitForCacheSync(waiting.Done(), synced...) {
		log.Error(nil, "The profiles were not read in time; pods are placed by their requests until they are", "syncTimeoutSeconds", args.SyncTimeoutSeconds)
	}
	return d, nil
}

// watch registers the handlers of namespaces, and of pods that are gone. The scheduler starts the informers.
func (d *Dilation) watch(factory informers.SharedInformerFactory) error {
	namespaces, err := factory.Core().V1().Namespaces().Informer().AddEventHandler(d.modes)
	if err != nil {
		return fmt.Errorf("watching namespaces: %w", err)
	}
	d.modes.synced = namespaces.HasSynced
	if _, err := factory.Core().V1().Pods().Informer().AddEventHandler(d.waiting); err != nil {
		return fmt.Errorf("watching pods: %w", err)
	}
	return nil
}

func newPlugin(args *config.DilationArgs, index *profile.Index, cluster fwk.SharedLister, waiting *waiting, log klog.Logger) *Dilation {
	d := &Dilation{args: args, index: index, cluster: cluster, waiting: waiting, nodes: newNodeTable(), kinds: newKinds(), budget: newSharedBudget()}
	index.LimitImportance(args.Limits.MaxImportance)
	d.modes = newModes(args, log, func() { waiting.changed(metav1.NamespaceAll) })
	d.cost, d.packs = d.costOf(args.Objective), args.Objective == configv1alpha1.ObjectivePacking
	if n := args.EventsPerSecond; n > 0 {
		d.events = flowcontrol.NewTokenBucketPassiveRateLimiter(float32(n), int(n))
	}
	return d
}

// Name returns the plugin's name.
func (*Dilation) Name() string { return Name }

// ScoreExtensions returns the plugin itself, for NormalizeScore.
func (d *Dilation) ScoreExtensions() fwk.ScoreExtensions { return d }

// cycleKey is where the cycle is left for the next extension point.
const cycleKey = fwk.StateKey(Name)

// cycle is what one scheduling cycle is about.
type cycle struct {
	nodes     fwk.NodeInfoLister // the scheduler's snapshot
	snapshot  *profile.Snapshot
	version   version
	pod       *profile.Candidates // for prices
	candidate *candidate          // for bounds
	place     int                 // of its kind in the nodeTable
	number    uint64              // of the cycle in the nodeTable
	epoch     uint64              // of the nodeTable
	budget    *budget

	refusals  refusals
	placement *placement // nil if there is nothing to say of it
}

// Clone returns the cycle itself: preemption tries out changes of nodes, and not of the pod.
func (c *cycle) Clone() fwk.StateData { return c }

// cycleOf returns the cycle of a state.
func cycleOf(state fwk.CycleState) (*cycle, error) {
	data, err := state.Read(cycleKey)
	if err != nil {
		return nil, err
	}
	c, ok := data.(*cycle)
	if !ok {
		return nil, fmt.Errorf("want state to be of type cycle, got %T", data)
	}
	return c, nil
}

// begin begins the cycle of a pod.
func (d *Dilation) begin(state fwk.CycleState, pod *corev1.Pod) (*cycle, error) {
	nodes := d.cluster.NodeInfos()
	infos, err := nodes.List()
	if err != nil {
		return nil, err
	}
	modes := d.modes.version.Load() // before the modes themselves are read
	snapshot := d.index.Snapshot()
	if d.version != snapshot.Version {
		d.version = snapshot.Version
		reportProfiles(snapshot)
	}
	c := &cycle{nodes: nodes, snapshot: snapshot, version: version{snapshot.NodesVersion, modes}, candidate: newCandidate(snapshot, d.modes, pod)}
	c.budget = newBudget(d.budget, time.Now())
	if d.args.HoldMaxDilation > 0 && d.waiting.holds(pod.UID, d.args.HoldMaxWait) {
		c.candidate.hold = d.args.HoldMaxDilation
	}
	d.kinds.begin(c.version)
	c.candidate.kind = d.kinds.number(c.candidate)
	d.nodes.beginCycle(len(infos), c)
	state.Write(cycleKey, c)
	return c, nil
}

// retrySince has the pods that wait tried again for what has changed since a cycle began: a pod that waits since then has missed
// these events.
func (d *Dilation) retrySince(c *cycle) {
	now := d.index.Snapshot()
	for _, namespace := range now.Changed(c.snapshot) {
		d.waiting.changed(namespace)
	}
	if (version{now.NodesVersion, d.modes.version.Load()}) != c.version {
		d.waiting.changed(metav1.NamespaceAll)
	}
}

// PreScore prepares the pod for prices.
func (d *Dilation) PreScore(_ context.Context, state fwk.CycleState, pod *corev1.Pod, _ []fwk.NodeInfo) *fwk.Status {
	c, err := cycleOf(state)
	if err != nil { // the first that is asked in this cycle
		if c, err = d.begin(state, pod); err != nil {
			return fwk.AsStatus(err)
		}
	}
	c.pod = c.snapshot.Candidates(pod)
	reportVector(c.pod.Profiled)
	return nil
}

// Score returns the cost of putting the pod on the node, encoded so that costs keep their order: by default the dilation added to
// the pod and to its neighbours.
func (d *Dilation) Score(ctx context.Context, state fwk.CycleState, _ *corev1.Pod, node fwk.NodeInfo) (int64, *fwk.Status) {
	c, err := cycleOf(state)
	if err != nil {
		return 0, fwk.AsStatus(err)
	}
	return encodeCost(d.costOn(ctx, c, node)), nil
}

// SignPod gives different signatures to pods that the plugin would score differently. Two pods with one signature have the same
// weight and limit, and follow the same state of a profile, or have the same vector from their requests.
//
// Profiles that the pod does not follow are left out, though its neighbours may follow them: a signature stands for the pod,
// and not for the nodes. For half a second at most the scheduler takes for the next pod of the signature the best of the nodes as they
// were scored, but for the one that took the last pod, which it scores anew. Nodes and profiles may change meanwhile: it runs
// Filter first, which looks at all as it is then, so that no bound is exceeded, and at worst the node is the best of half a second ago.
func (d *Dilation) SignPod(_ context.Context, pod *corev1.Pod) ([]fwk.SignFragment, *fwk.Status) {
	snapshot := d.index.Snapshot()
	n := newCandidate(snapshot, d.modes, pod)
	signature := podSignature{
		Nodes: snapshot.NodesVersion, Modes: d.modes.version.Load(), Share: n.share, Devices: n.devices,
		Importance: n.importance, Promise: n.promise, Held: d.args.HoldMaxDilation > 0 && d.waiting.holds(pod.UID, d.args.HoldMaxWait),
	}
	if n.follows != nil {
		signature.Profile = n.follows.State
	}
	if n.workload == nil {
		signature.Vector = n.requests
	}
	return []fwk.SignFragment{{Key: Name, Value: signature}}, nil
}

// podSignature is all that the score of a pod, and whether a node takes it, depend on, besides the nodes.
type podSignature struct {
	Nodes      uint64 // version of the NodeProfiles
	Modes      uint64
	Importance float64
	Promise    node.Promise `json:",omitzero"`
	Held       bool         `json:",omitempty"`
	Share      loading.Share
	Devices    string         `json:",omitempty"`
	Profile    uint64         `json:",omitempty"` // its state
	Vector     loading.Vector `json:",omitempty"`
}
