package invariant

import (
	"fmt"
	"net/http"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"

	"loadline.dev/loadline/apis/config"
	configv1alpha1 "loadline.dev/loadline/apis/config/v1alpha1"
	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/hack/chaos/link"
	"loadline.dev/loadline/pkg/node"
	"loadline.dev/loadline/pkg/profile"
)

const (
	// scheduler is the name of Loadline's in pods.
	scheduler = "loadline"
	// late is how much later than the API server a scheduler may see a change while nothing is wrong.
	late = 2 * time.Second
)

// BoundsKept says that a pod which Loadline's scheduler places exceeds no bound that is enforced and that the scheduler could have seen, by the pods
// that it could have seen on the node: those that it placed itself and was told so, and those that others placed while it saw all.
type BoundsKept struct {
	disturbed, blind func(client string, from, to time.Time) bool

	index   *profile.Index
	modes   map[string]configv1alpha1.GuardMode // by namespace
	nodes   map[string]*corev1.Node
	pods    map[string]*placed // by UID, those on nodes
	binders map[string]string  // the client that bound a pod, by namespace and name
	// Excused counts placements that exceed a bound by what the scheduler could not see.
	Excused int
	// Judged counts all placements.
	Judged int
}

// placed is a pod on a node.
type placed struct {
	pod *corev1.Pod
	at  time.Time
	by  string // the client, "" where it is not known
}

// NewBoundsKept returns the rule, which has seen nothing.
func NewBoundsKept(disturbed, blind func(client string, from, to time.Time) bool) *BoundsKept {
	requests := []config.RequestRule{{Resource: "cpu", Request: corev1.ResourceCPU, PerThread: 1, Utilization: 1, Minimum: 0.1}}
	return &BoundsKept{
		disturbed: disturbed, blind: blind, index: profile.NewIndex(requests, logr.Discard()),
		modes: map[string]configv1alpha1.GuardMode{}, nodes: map[string]*corev1.Node{}, pods: map[string]*placed{}, binders: map[string]string{},
	}
}

// Name says what is so.
func (*BoundsKept) Name() string { return "no pod that comes exceeds a bound" }

// Request remembers who bound a pod. The answer may come before or after the change is seen.
func (b *BoundsKept) Request(r link.Passed) []string {
	p, is := podPath(r.Path)
	if !is || p.subresource != "binding" || r.Method != http.MethodPost || !succeeded(&r) {
		return nil
	}
	b.binders[p.namespace+"/"+p.pod] = r.Client
	return nil
}

// Event judges pods that are new on a node.
func (b *BoundsKept) Event(e Event) []string {
	switch o := e.Object.(type) {
	case *corev1.Namespace:
		b.modes[o.Name], _ = node.GuardModeOf(o.Labels)
	case *corev1.Node:
		if !e.Deleted {
			b.nodes[o.Name] = o
		}
	case *v1alpha1.WorkloadProfile, *v1alpha1.NodeProfile:
		if e.Deleted {
			b.index.OnDelete(o)
		} else {
			b.index.OnAdd(o, false)
		}
	case *corev1.Pod:
		return b.pod(e, o)
	}
	return nil
}

func (b *BoundsKept) pod(e Event, pod *corev1.Pod) []string {
	uid := string(pod.UID)
	there := b.pods[uid]
	switch {
	case e.Deleted || terminated(pod):
		delete(b.pods, uid)
		return nil
	case pod.Spec.NodeName == "":
		return nil
	case there != nil:
		there.pod = pod
		return nil
	}
	came := &placed{pod: pod, at: e.At, by: b.binders[pod.Namespace+"/"+pod.Name]}
	defer func() { b.pods[uid] = came }()
	if pod.Spec.SchedulerName != scheduler {
		return nil
	}
	b.Judged++
	everything := b.judge(came, func(*placed) bool { return true })
	if everything == "" {
		return nil
	}
	if b.blind(came.by, came.at.Add(-late), came.at) || b.judge(came, func(other *placed) bool { return b.visible(other, came) }) == "" {
		b.Excused++
		return nil
	}
	return []string{everything}
}

// visible reports whether the scheduler that placed a pod could see another one on the node.
func (b *BoundsKept) visible(other, came *placed) bool {
	if other.by != "" && other.by == came.by {
		return !b.disturbed(came.by, other.at.Add(-late), other.at.Add(late))
	}
	return came.at.Sub(other.at) > late && !b.disturbed(came.by, other.at.Add(-late), came.at)
}

// judge returns the bound that a pod exceeds on its node, by those of the other pods there that count, "" for none.
func (b *BoundsKept) judge(came *placed, counts func(*placed) bool) string {
	object := b.nodes[came.pod.Spec.NodeName]
	if object == nil {
		return ""
	}
	s := b.index.Snapshot()
	class := s.NodeClass(object)
	var others []node.Pod
	for _, p := range b.pods {
		if p.pod.Spec.NodeName == object.Name && counts(p) {
			others = append(others, b.bounded(s, object, class, p.pod))
		}
	}
	g := node.Guard{Node: node.New(s.Resources(), object, class, others)}
	v := g.Judge(b.bounded(s, object, class, came.pod), 0, node.Granted)
	e := v.Refusing()
	if e == nil {
		return ""
	}
	whose := came.pod
	if e.Pod < len(others) {
		whose = others[e.Pod].Pod
	}
	return fmt.Sprintf("pod %s/%s came to node %s at %s, where %s/%s is dilated %.3f times, more than its bound of %.3f, beside %d pods",
		came.pod.Namespace, came.pod.Name, object.Name, came.at.Format(time.TimeOnly), whose.Namespace, whose.Name, e.Dilation, e.Bound.Max, len(others))
}

// bounded returns a pod with its bound on a node.
func (b *BoundsKept) bounded(s *profile.Snapshot, object *corev1.Node, class *profile.NodeClass, pod *corev1.Pod) node.Pod {
	p := node.PodOf(s, class, pod)
	mode := b.modes[pod.Namespace]
	if mode == "" {
		mode = configv1alpha1.GuardOff
	}
	cpu := s.Resources().Processor()
	promise := node.NewPromise(pod, p.Workload, mode, config.Limits{MinMaxDilation: 1.05, MaxImportance: 10})
	p.Bound = promise.On(p.Vector[cpu], s.Resources().Servers(object, class)[cpu])
	return p
}
