package profile

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/tools/cache"

	"loadline.dev/loadline/apis/config"
	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/cgroup"
	"loadline.dev/loadline/pkg/model/loading"
)

// Index holds the profiles of a cluster. It is a cache.ResourceEventHandler for
// informers of WorkloadProfile and NodeProfile, and safe for concurrent use.
type Index struct {
	log      logr.Logger
	requests []config.RequestRule

	changed func(namespace string) // nil if no one asked for it
	current atomic.Pointer[Snapshot]
	stale   atomic.Bool // current is older than the fields below

	mu        sync.Mutex
	workloads map[types.NamespacedName]*entry
	outdated  map[types.NamespacedName]*entry // those of workloads that changed
	nodes     map[string]*v1alpha1.NodeProfile
	nodesDiff bool   // nodes changed
	compiled  uint64 // states of WorkloadProfiles
}

var _ cache.ResourceEventHandler = &Index{}

// NewIndex returns an index without profiles. Pods that follow none get their
// vector by the rules. Invalid profiles are logged and otherwise ignored.
func NewIndex(requests []config.RequestRule, log logr.Logger) *Index {
	x := &Index{
		log:       log,
		requests:  requests,
		workloads: map[types.NamespacedName]*entry{},
		outdated:  map[types.NamespacedName]*entry{},
		nodes:     map[string]*v1alpha1.NodeProfile{},
	}
	x.current.Store(newSnapshot(requests))
	return x
}

// Notify has f called after each change, with the namespace of the profile, [metav1.NamespaceAll] for a NodeProfile. It must
// return at once, and be set before the index is fed.
func (x *Index) Notify(f func(namespace string)) { x.changed = f }

// LimitImportance has no importance count for more than most. It must be called before the first snapshot is
// taken.
func (x *Index) LimitImportance(most float64) {
	limited := *x.current.Load()
	limited.maxImportance = most
	x.current.Store(&limited)
}

// outdate marks the current snapshot as older than the profiles of a namespace.
func (x *Index) outdate(namespace string) {
	x.stale.Store(true)
	if x.changed != nil {
		x.changed(namespace)
	}
}

// OnAdd takes in a new profile.
func (x *Index) OnAdd(obj any, _ bool) { x.set(obj) }

// OnUpdate takes in a changed profile. Changes of anything but the spec and the measurements do not change the index.
func (x *Index) OnUpdate(_, obj any) { x.set(obj) }

// OnDelete forgets a profile.
func (x *Index) OnDelete(obj any) {
	if last, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = last.Obj
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	switch p := obj.(type) {
	case *v1alpha1.WorkloadProfile:
		name := types.NamespacedName{Namespace: p.Namespace, Name: p.Name}
		e, ok := x.workloads[name]
		if !ok {
			return
		}
		e.profile, x.outdated[name] = nil, e
		if e.ranked == nil && !e.ignored { // it came and went between two snapshots
			delete(x.workloads, name)
			delete(x.outdated, name)
		}
		x.outdate(p.Namespace)
	case *v1alpha1.NodeProfile:
		delete(x.nodes, p.Name)
		x.nodesDiff = true
		x.outdate(metav1.NamespaceAll)
	default:
		x.log.Error(nil, "Ignored an object that is not a profile", "type", fmt.Sprintf("%T", obj))
	}
}

func (x *Index) set(obj any) {
	x.mu.Lock()
	defer x.mu.Unlock()
	switch p := obj.(type) {
	case *v1alpha1.WorkloadProfile:
		name := types.NamespacedName{Namespace: p.Namespace, Name: p.Name}
		e, ok := x.workloads[name]
		if !ok {
			e = &entry{}
			x.workloads[name] = e
		}
		if e.profile != nil && SameWorkload(e.profile, p) {
			return
		}
		e.profile, x.outdated[name] = p, e
		x.outdate(p.Namespace)
	case *v1alpha1.NodeProfile:
		if old, ok := x.nodes[p.Name]; ok && SameNodeClass(old, p) {
			return
		}
		x.nodes[p.Name] = p
		x.nodesDiff = true
		x.outdate(metav1.NamespaceAll)
	default:
		x.log.Error(nil, "Ignored an object that is not a profile", "type", fmt.Sprintf("%T", obj))
	}
}

// Snapshot returns the state of the index, with every change that came before
// the call. It takes no lock unless something changed since the last call, when
// it compiles the profiles that did.
func (x *Index) Snapshot() *Snapshot {
	if !x.stale.Load() {
		return x.current.Load()
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.stale.Load() { // no other goroutine was faster
		x.current.Store(x.compile(x.current.Load()))
		x.stale.Store(false)
	}
	return x.current.Load()
}

// compile returns the snapshot that follows old.
func (x *Index) compile(old *Snapshot) *Snapshot {
	next := *old
	next.Version++
	if x.nodesDiff {
		next.NodesVersion++
		classes := x.compileNodes()
		next.nodes, next.invalidNodes = NewRanking(classes), len(x.nodes)-len(classes)
		x.reportIgnored("NodeProfile", metav1.NamespaceAll, len(next.nodes.ignored), len(old.nodes.ignored))
		next.withDevices = slices.DeleteFunc(slices.Clone(classes), func(c *NodeClass) bool { return len(c.devices) == 0 })
		if r := NewResources(classes, ruled(x.requests)...); !r.equal(old.resources) {
			next.resources = r
			maps.Copy(x.outdated, x.workloads) // all were compiled for the old ones
		}
		x.nodesDiff = false
	}
	x.compileWorkloads(&next)
	return &next
}

// entry is a WorkloadProfile and its compiled form in the current snapshot.
type entry struct {
	profile *v1alpha1.WorkloadProfile // nil once it is deleted
	ranked  *Workload                 // nil if the profile is invalid, or newer than the snapshot
	ignored bool                      // the snapshot counts it as invalid
}

// compileWorkloads compiles the profiles that are outdated, and ranks them among those of their namespaces, which are
// unchanged. Where a namespace has no newly ranked profile, its ranking is unchanged, too.
func (x *Index) compileWorkloads(next *Snapshot) {
	type change struct{ added, removed []*Workload }
	changes := map[string]*change{} // by namespace
	for name, e := range x.outdated {
		c := changes[name.Namespace]
		if c == nil {
			c = &change{}
			changes[name.Namespace] = c
		}
		if e.ranked != nil {
			c.removed = append(c.removed, e.ranked)
		}
		if e.ignored {
			next.invalidWorkloads--
		}
		e.ranked, e.ignored = nil, false
		if e.profile == nil {
			delete(x.workloads, name)
			continue
		}
		var errs field.ErrorList
		e.ranked, errs = NewWorkload(e.profile, next.resources)
		x.report("WorkloadProfile", e.profile, errs)
		if e.ranked == nil {
			e.ignored = true
			next.invalidWorkloads++
			continue
		}
		x.compiled++
		e.ranked.State = x.compiled
		c.added = append(c.added, e.ranked)
	}
	x.outdated = map[types.NamespacedName]*entry{}
	namespaces := next.namespaces.edit()
	for name, c := range changes {
		if len(c.added)+len(c.removed) == 0 {
			continue // invalid as before
		}
		ranking := namespaces.get(name)
		if ranking == nil {
			ranking = &Ranking[*Workload]{}
		}
		after := ranking.with(c.added, c.removed)
		next.rankedWorkloads += after.size - ranking.size
		next.excessWorkloads += len(after.ignored) - len(ranking.ignored)
		x.reportIgnored("WorkloadProfile", name, len(after.ignored), len(ranking.ignored))
		if after.size > 0 {
			namespaces.set(name, after)
		} else {
			namespaces.remove(name)
		}
	}
	next.namespaces = namespaces.done()
}

// compileNodes returns the valid ones of the nodes' profiles.
func (x *Index) compileNodes() []*NodeClass {
	classes := make([]*NodeClass, 0, len(x.nodes))
	for _, p := range x.nodes {
		class, errs := NewNodeClass(p)
		x.report("NodeProfile", p, errs)
		if class != nil {
			classes = append(classes, class)
		}
	}
	return classes
}

// report logs that a profile is ignored, where it has errors.
func (x *Index) report(kind string, p metav1.Object, errs field.ErrorList) {
	if len(errs) > 0 {
		x.log.Error(errs.ToAggregate(), "Ignored an invalid profile", "kind", kind, "namespace", p.GetNamespace(), "name", p.GetName())
	}
}

// reportIgnored logs that valid profiles are ignored because there are too many, where their number changed.
func (x *Index) reportIgnored(kind, namespace string, ignored, before int) {
	if ignored > 0 && ignored != before {
		x.log.Error(nil, "Ignored profiles, since an object would be compared with too many selectors: give them labels that only their objects have",
			"kind", kind, "namespace", namespace, "ignored", ignored, "maxCompared", MaxCompared)
	}
}

// Snapshot is the state of an [Index] at one moment. It is immutable.
type Snapshot struct {
	// Version grows with each change. Numbers that were computed from a
	// snapshot hold for as long as its version does, and longer where [Followed.In]
	// says so.
	Version uint64
	// NodesVersion grows with each change of a NodeProfile, by which the resources may
	// change that all vectors are about.
	NodesVersion uint64

	requests    []config.RequestRule
	resources   *Resources
	namespaces  sharded[string, *Ranking[*Workload]]
	nodes       *Ranking[*NodeClass]
	withDevices []*NodeClass

	maxImportance float64 // that counts, 0 for any

	rankedWorkloads, excessWorkloads int // valid, and those of them that are ignored
	invalidWorkloads, invalidNodes   int
}

func newSnapshot(requests []config.RequestRule) *Snapshot {
	return &Snapshot{
		requests:  requests,
		resources: NewResources(nil, ruled(requests)...),
		nodes:     NewRanking[*NodeClass](nil),
	}
}

// ruled returns the resources that rules are about. They are the cluster's even
// if no NodeProfile names them: without them, pods could weigh nothing.
func ruled(requests []config.RequestRule) []string {
	names := make([]string, len(requests))
	for i, rule := range requests {
		names[i] = rule.Resource
	}
	return names
}

// Resources returns the resources that the snapshot's vectors are about.
func (s *Snapshot) Resources() *Resources { return s.resources }

// Workload returns the profile that a pod follows, nil if none.
func (s *Snapshot) Workload(pod *corev1.Pod) *Workload {
	return follows(s.namespaces.get(pod.Namespace), pod)
}

// Workloads returns all profiles that pods can follow, in any order.
func (s *Snapshot) Workloads() iter.Seq[*Workload] {
	return func(yield func(*Workload) bool) {
		for _, ranking := range s.namespaces.all() {
			for w := range ranking.used() {
				if !yield(w) {
					return
				}
			}
		}
	}
}

// WorkloadsIn returns the profiles that pods of a namespace can follow, in any order.
func (s *Snapshot) WorkloadsIn(namespace string) iter.Seq[*Workload] {
	if ranking := s.namespaces.get(namespace); ranking != nil {
		return ranking.used()
	}
	return func(func(*Workload) bool) {}
}

// Changed returns the namespaces whose profiles are not those of another snapshot of the
// index, in any order. It takes time in the number of namespaces, not in that of profiles.
func (s *Snapshot) Changed(since *Snapshot) []string {
	var changed []string
	if s == since {
		return nil
	}
	for namespace, ranking := range s.namespaces.all() {
		if since.namespaces.get(namespace) != ranking {
			changed = append(changed, namespace)
		}
	}
	for namespace := range since.namespaces.all() {
		if s.namespaces.get(namespace) == nil {
			changed = append(changed, namespace)
		}
	}
	return changed
}

// VectorOn returns the vector of a pod on the nodes of a class, which must not be
// changed: that of the profile that it follows (see [Workload.On]), or one derived
// from its requests. It is as long as the snapshot's list of resources.
func (s *Snapshot) VectorOn(class string, pod *corev1.Pod) loading.Vector {
	return s.vectorOf(pod, s.Workload(pod), class)
}

// vectorOf returns the vector of a pod that follows a profile, nil for none, on the nodes of a class.
func (s *Snapshot) vectorOf(pod *corev1.Pod, w *Workload, class string) loading.Vector {
	if w != nil {
		if v := w.On(class); v != nil {
			return v.Vector
		}
	}
	return FromRequests(pod, s.requests, s.resources)
}

// Share returns the weight and the limit of a pod at the processor, of all pods of any node.
func Share(pod *corev1.Pod) loading.Share { return cgroup.Flat(pod) }

// GroupedShare returns the same as [Share], with the QoS class of the pod as its group.
func GroupedShare(pod *corev1.Pod) loading.Share {
	share := Share(pod)
	share.Group = slices.Index([]corev1.PodQOSClass{corev1.PodQOSGuaranteed, corev1.PodQOSBurstable, corev1.PodQOSBestEffort}, cgroup.QoS(pod))
	return share
}

// Vector returns the vector of a pod whose nodes are not known: that on nodes of
// [AnyClass].
func (s *Snapshot) Vector(pod *corev1.Pod) loading.Vector { return s.VectorOn(AnyClass, pod) }

// NodeClass returns the profile that a node follows, nil if none.
func (s *Snapshot) NodeClass(node *corev1.Node) *NodeClass {
	c, _ := s.nodes.Winner(labels.Set(node.Labels))
	return c
}

// KnownDisks returns the names of the classes of nodes of which it is known how many requests their disk serves at once: their NodeProfile
// declares it, or it was calibrated.
func (s *Snapshot) KnownDisks() sets.Set[string] {
	names := sets.New[string]()
	for class := range s.nodes.used() {
		if class.Servers[disk] > 0 {
			names.Insert(class.Name)
		}
	}
	return names
}

// Servers returns the number of servers of each resource on a node: as its profile declares, else as calibrated, else its
// allocatable cores for cpu and one for all others.
func (s *Snapshot) Servers(node *corev1.Node) []int {
	return s.resources.Servers(node, s.NodeClass(node))
}

// Counts returns how many profiles of both kinds are used and ignored.
func (s *Snapshot) Counts() (valid, ignored int) {
	excess := s.excessWorkloads + len(s.nodes.ignored)
	return s.rankedWorkloads + s.nodes.size - excess, s.invalidWorkloads + s.invalidNodes + excess
}
