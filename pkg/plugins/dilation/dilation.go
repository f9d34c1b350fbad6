// Package dilation is the scheduler plugin that puts a pod on the node where it
// and its neighbours are slowed down least.
//
// PreScore resolves the pod's vector and brings the prices of the nodes up to
// date; Score is two dot products of the two (see package contention), without
// a lock or an allocation; NormalizeScore maps the costs to the framework's
// range. The framework's snapshot, which counts assumed pods, is the only
// source of which pod is where: there is no informer lag, and in a burst each
// pod sees all those before it.
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
	index  *profile.Index
	prices *priceTable
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
	return newPlugin(index), nil
}

func newPlugin(index *profile.Index) *Dilation {
	return &Dilation{index: index, prices: newPriceTable()}
}

// Name returns the plugin's name.
func (*Dilation) Name() string { return Name }

// ScoreExtensions returns the plugin itself, for NormalizeScore.
func (d *Dilation) ScoreExtensions() fwk.ScoreExtensions { return d }

// candidateKey is where PreScore leaves the candidate for Score.
const candidateKey = fwk.StateKey(Name)

// candidate is the pod of a scheduling cycle.
type candidate struct{ *contention.Candidate }

// Clone returns the candidate itself, which never changes.
func (c candidate) Clone() fwk.StateData { return c }

// PreScore resolves the pod's vector and brings the prices of the feasible
// nodes up to date: those of nodes on which nothing changed since they were
// last seen are at hand.
func (d *Dilation) PreScore(_ context.Context, state fwk.CycleState, pod *corev1.Pod, nodes []fwk.NodeInfo) *fwk.Status {
	snapshot := d.index.Snapshot()
	d.prices.update(snapshot, nodes)

	vector, source := snapshot.Vector(pod), fromRequests
	if snapshot.Workload(pod) != nil {
		source = fromProfile
	}
	podsScored.WithLabelValues(source).Inc()
	state.Write(candidateKey, candidate{contention.NewCandidate(vector)})
	return nil
}

// Score returns what it would cost to put the pod on the node, encoded so that
// costs keep their order: the dilation added to the pod and to its neighbours.
func (d *Dilation) Score(_ context.Context, state fwk.CycleState, _ *corev1.Pod, node fwk.NodeInfo) (int64, *fwk.Status) {
	data, err := state.Read(candidateKey)
	if err != nil {
		return 0, fwk.AsStatus(err)
	}
	c, ok := data.(candidate)
	if !ok {
		return 0, fwk.AsStatus(fmt.Errorf("want state to be of type candidate, got %T", data))
	}
	prices := d.prices.of(node)
	if prices == nil {
		return 0, fwk.AsStatus(fmt.Errorf("node %s was not seen by PreScore", node.Node().Name))
	}
	return encodeCost(prices.Of(c.Candidate)), nil
}

// SignPod tells pods apart that the plugin would score differently. Two pods
// with one signature follow the same profile, or have the same vector from
// their requests, as of the same state of the profiles.
func (d *Dilation) SignPod(_ context.Context, pod *corev1.Pod) ([]fwk.SignFragment, *fwk.Status) {
	snapshot := d.index.Snapshot()
	signature := podSignature{Version: snapshot.Version}
	if w := snapshot.Workload(pod); w != nil {
		signature.Namespace, signature.Profile = w.Namespace, w.Name
	} else {
		signature.Vector = snapshot.Vector(pod)
	}
	return []fwk.SignFragment{{Key: Name, Value: signature}}, nil
}

// podSignature is all that the score of a pod depends on, besides the nodes.
type podSignature struct {
	Version   uint64
	Namespace string            `json:",omitempty"`
	Profile   string            `json:",omitempty"`
	Vector    contention.Vector `json:",omitempty"`
}
