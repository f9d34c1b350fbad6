// Package dilation is the scheduler plugin that puts a pod on the node where it
// and its neighbours are slowed down least.
//
// PreScore resolves the pod's vector, on each class of nodes that it was measured
// on, and what weight and limit at the processor its requests and limits make; Score multiplies that of the node's class with the prices of the node, two
// dot products (see package contention) without a lock or an allocation, after
// pricing the node again if its pods have changed; NormalizeScore maps the costs to
// the framework's range. The framework's snapshot, which counts assumed pods, is
// the only source of which pod is where: there is no informer lag, and in a burst
// each pod sees all those before it.
package dilation

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"

	"loadline.dev/loadline/apis/config"
	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/profile"
)

// Name is the plugin's name in a scheduler configuration.
const Name = "Dilation"

// Dilation is the plugin. See the package comment.
type Dilation struct {
	index   *profile.Index
	cluster fwk.SharedLister
	prices  *priceTable
	version uint64 // of the profiles that the metrics are about
}

var (
	_ fwk.PreScorePlugin  = &Dilation{}
	_ fwk.ScorePlugin     = &Dilation{}
	_ fwk.ScoreExtensions = &Dilation{}
	_ fwk.SignPlugin      = &Dilation{}
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
	synced, err := index.Watch(ctx, handle.KubeConfig())
	if err != nil {
		return nil, err
	}
	waiting, cancel := context.WithTimeout(ctx, time.Duration(args.SyncTimeoutSeconds)*time.Second)
	defer cancel()
	if !cache.WaitForCacheSync(waiting.Done(), synced...) {
		log.Error(nil, "The profiles were not read in time; pods are placed by their requests until they are", "syncTimeoutSeconds", args.SyncTimeoutSeconds)
	}
	return newPlugin(index, handle.SnapshotSharedLister()), nil
}

func newPlugin(index *profile.Index, cluster fwk.SharedLister) *Dilation {
	return &Dilation{index: index, cluster: cluster, prices: newPriceTable()}
}

// Name returns the plugin's name.
func (*Dilation) Name() string { return Name }

// ScoreExtensions returns the plugin itself, for NormalizeScore.
func (d *Dilation) ScoreExtensions() fwk.ScoreExtensions { return d }

// cycleKey is where PreScore leaves the cycle for Score.
const cycleKey = fwk.StateKey(Name)

// cycle is what the scores of one scheduling cycle are about.
type cycle struct {
	snapshot *profile.Snapshot
	pod      *profile.Candidates
}

// Clone returns the cycle itself, which never changes.
func (c *cycle) Clone() fwk.StateData { return c }

// PreScore resolves the pod's vectors.
func (d *Dilation) PreScore(_ context.Context, state fwk.CycleState, pod *corev1.Pod, _ []fwk.NodeInfo) *fwk.Status {
	nodes, err := d.cluster.NodeInfos().List()
	if err != nil {
		return fwk.AsStatus(err)
	}
	d.prices.beginCycle(len(nodes))
	snapshot := d.index.Snapshot()
	if d.version != snapshot.Version {
		d.version = snapshot.Version
		reportProfiles(snapshot)
	}
	c := &cycle{snapshot, snapshot.Candidates(pod)}
	reportVector(c.pod.Profiled)
	state.Write(cycleKey, c)
	return nil
}

// Score returns what it would cost to put the pod on the node, encoded so that
// costs keep their order: the dilation added to the pod and to its neighbours.
func (d *Dilation) Score(ctx context.Context, state fwk.CycleState, pod *corev1.Pod, node fwk.NodeInfo) (int64, *fwk.Status) {
	data, err := state.Read(cycleKey)
	if err != nil {
		return 0, fwk.AsStatus(err)
	}
	c, ok := data.(*cycle)
	if !ok {
		return 0, fwk.AsStatus(fmt.Errorf("want state to be of type cycle, got %T", data))
	}
	var n *nodePrices
	if holdsSibling(pod, node) {
		n = price(ctx, c.snapshot, node)
	} else {
		n = d.prices.of(ctx, c.snapshot, node)
	}
	return encodeCost(n.prices.Of(c.pod.On(n.class))), nil
}

// SignPod tells pods apart that the plugin would score differently. Two pods
// with one signature have the same weight and limit, and follow the same profile,
// or have the same vector from their requests, as of the same state of the profiles.
func (d *Dilation) SignPod(_ context.Context, pod *corev1.Pod) ([]fwk.SignFragment, *fwk.Status) {
	snapshot := d.index.Snapshot()
	signature := podSignature{Version: snapshot.Version, Share: profile.Share(pod), Devices: snapshot.RequestedDevices(pod)}
	if w := snapshot.Workload(pod); w != nil && w.Elsewhere() != nil {
		signature.Namespace, signature.Profile = w.Namespace, w.Name
	} else {
		signature.Vector = snapshot.VectorOn(profile.AnyClass, pod)
	}
	return []fwk.SignFragment{{Key: Name, Value: signature}}, nil
}

// podSignature is all that the score of a pod depends on, besides the nodes.
type podSignature struct {
	Version   uint64
	Share     contention.Share
	Devices   []string          `json:",omitempty"` // extended resources that the pod requests
	Namespace string            `json:",omitempty"`
	Profile   string            `json:",omitempty"`
	Vector    contention.Vector `json:",omitempty"`
}
