package observed

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"loadline.dev/loadline/pkg/evaluate/workloads"
	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/queueing"
	"loadline.dev/loadline/pkg/node"
	"loadline.dev/loadline/pkg/text"
)

// Kind is the kind of a cause.
type Kind string

// Kinds of causes.
const (
	// ByNeighbour is another pod on the node.
	ByNeighbour Kind = "Neighbour"
	// ByLimit is a limit of the pod, or of one of its containers.
	ByLimit Kind = "Limit"
	// ByHypervisor is that the hypervisor ran something else.
	ByHypervisor Kind = "Hypervisor"
	// ByItself is that the pod has more threads than the node has processors.
	ByItself Kind = "Itself"
	// BySystem is what runs on the node in no pod.
	BySystem Kind = "System"
	// ByEnded is pods that have ended since.
	ByEnded Kind = "Ended"
	// ByUnclear is waiting that nothing which was observed explains.
	ByUnclear Kind = "Unclear"
)

// Disk is the resource of causes at which a pod waits for a disk. That of all others is the CPU.
const Disk = "disk"

// Cause is one reason why a pod is slowed down.
type Cause struct {
	Kind Kind `json:"kind"`
	// Resource is [Disk] where the pod waits for one, and Device its name, such as vda; absent where it waits for a processor.
	Resource string `json:"resource,omitempty"`
	Device   string `json:"device,omitempty"`
	// Pod and Workload are those of a neighbour.
	Pod      string `json:"pod,omitempty"`
	Workload string `json:"workload,omitempty"`
	// Container is the container that a limit is of, absent where it is that of the pod as a whole, or of its only container, and Limit
	// is how much CPU that is. Assumed says that the gauge does not report which of several limits it is: it is the smallest.
	Container string             `json:"container,omitempty"`
	Limit     *resource.Quantity `json:"limit,omitempty"`
	Assumed   bool               `json:"assumed,omitempty"`
	// Dilation is how much it adds.
	Dilation float64 `json:"dilation"`
}

// Waiting holds the causes for which a pod waits for a processor by the model, in times of its own; they add up.
type Waiting struct {
	Itself, System float64
	Ended          float64   // pods that have ended since, of which the model knows nothing
	By             []float64 // by the index of a pod in the model
}

// Total returns the sum of all parts.
func (w *Waiting) Total() float64 {
	sum := w.Itself + w.System + w.Ended
	for _, b := range w.By {
		sum += b
	}
	return sum
}

// waitingOf returns why a pod of a node waits, by the model, given its solution.
//
// The dilation of a prediction is relative to the pod alone, with its own threads in each other's way, so what it adds is
// longer by that, and by what the limit leaves of the time alone.
func waitingOf(n *node.Node, at int, p *contention.Prediction) (*Waiting, error) {
	itself, err := WaitsForItself(n, at)
	if err != nil {
		return nil, err
	}
	w := &Waiting{Itself: itself}
	longer := (1 + w.Itself) * p.Throttling(at)
	blame := p.BlameAt(at, 0)
	w.By = make([]float64, len(n.Pods))
	for i, b := range blame {
		if i < len(w.By) {
			w.By[i] = b * longer
		} else {
			w.System += b * longer
		}
	}
	return w, nil
}

// WaitsForItself returns how long the threads of a pod of a node wait for each other, in times of its own.
func WaitsForItself(n *node.Node, at int) (float64, error) {
	vector := n.Pods[at].AtDevices()
	queues := false
	for i, d := range vector {
		queues = queues || d.Threads > n.Servers[i]
	}
	if !queues {
		return 0, nil
	}
	single, err := contention.Predict([]loading.Vector{vector}, n.Servers, queueing.Options{})
	if err != nil {
		return 0, err
	}
	waits := 0.0
	for i, d := range vector {
		waits += d.Loading * single.Wait(0, i)
	}
	return waits, nil
}

// Believed is by how much more than the model says a pod may have waited for the model to explain all of it. Queues of
// several cores are longer than the one queue of the model, so that it says rather too little.
const Believed = 2

// Waits returns why the pod, which is in the model, waits for a processor by it, in times of the pod alone, and how long its limit makes what
// it takes alone, with what it was observed to wait at disks.
func (r *Pod) Waits() (w *Waiting, throttling float64, err error) {
	p, err := r.Node.Predict()
	if err != nil {
		return nil, 0, err
	}
	if w, err = waitingOf(r.Node.Model, r.Index, p); err != nil {
		return nil, 0, err
	}
	w.scale(r.Longer())
	return w, p.Throttling(r.Index) * r.Longer(), nil
}

// Longer returns how many times longer than alone the pod takes where it waits at disks and for nothing else, at least 1. The model has such
// times, of which waiting at disks is a part, for those of the pod.
func (o *Observation) Longer() float64 { return 1 + o.AtDisks }

// excess returns the part of the dilation that is not the time alone nor waiting at disks, but what happens at processors.
func (o *Observation) excess() float64 { return max(0, o.Dilation-1-o.AtDisks) }

// Waited returns the part of the dilation that is waiting for a processor.
func (o *Observation) Waited() float64 {
	sum := o.Times.Wait + o.Times.Throttled + o.stolen
	if sum <= 0 {
		return 0
	}
	return o.excess() * o.Times.Wait / sum
}

// Explain returns why a pod is slowed down.
func (r *Pod) Explain() (Causes, error) {
	at, err := r.AtProcessors()
	if err != nil {
		return nil, err
	}
	return append(at.causes(r.Node), r.byDisks()...).Sorted(), nil
}

// AtProcessors is what adds to the dilation of a pod at processors, in times of the pod alone.
type AtProcessors struct {
	// Hypervisor is what the hypervisor took, and Unclear is waiting that nothing which was observed explains.
	Hypervisor, Unclear float64
	// Limits are the limits that hold the pod back, as causes.
	Limits Causes
	// Waiting is what is explained of its waiting.
	Waiting Waiting
}

// AtProcessors returns what adds to the dilation of the pod at processors. It takes time in proportion to the number of pods of the node.
func (r *Pod) AtProcessors() (*AtProcessors, error) {
	at := &AtProcessors{}
	excess, sum := r.excess(), r.Times.Wait+r.Times.Throttled+r.stolen
	if excess <= 0 || sum <= 0 {
		return at, nil
	}
	limited := r.limited()
	at.Hypervisor = excess * r.stolen / sum
	waited := r.Waited()
	w, throttling := &Waiting{By: make([]float64, len(r.Node.Model.Pods))}, r.Longer()
	if r.Index >= 0 {
		var err error
		if w, throttling, err = r.Waits(); err != nil {
			return nil, err
		}
	}
	total := w.Total()
	explained := min(waited, Believed*total)
	// While it waits a pod uses nothing of its quota, so that it is throttled for less: without its neighbours it would be for
	// as long.
	if limited > 0 {
		limited += min(waited-explained, max(0, throttling-r.Longer()-limited))
	}
	at.Limits = r.byLimits(limited)
	if total > 0 {
		w.scale(explained / total)
	}
	left := excess - at.Limits.Sum() - at.Hypervisor
	w.raise(r.least(min(left, waited)), left)
	at.Unclear, at.Waiting = max(0, left-w.Total()), *w
	return at, nil
}

// causes lists what adds to the dilation of a pod of a node.
func (at *AtProcessors) causes(n *Node) Causes {
	const others = 5
	size := others + len(at.Limits)
	for _, b := range at.Waiting.By {
		if b > negligibleCause {
			size++
		}
	}
	list := make(Causes, 0, size)
	list.add(Cause{Kind: ByHypervisor, Dilation: at.Hypervisor})
	list.add(at.Limits...)
	list.add(Cause{Kind: ByUnclear, Dilation: at.Unclear})
	list.add(Cause{Kind: ByItself, Dilation: at.Waiting.Itself})
	list.add(Cause{Kind: BySystem, Dilation: at.Waiting.System})
	list.add(Cause{Kind: ByEnded, Dilation: at.Waiting.Ended})
	neighbours := n.neighbours()
	for i, b := range at.Waiting.By {
		list.add(Cause{Kind: ByNeighbour, Pod: neighbours[i].pod, Workload: neighbours[i].workload, Dilation: b})
	}
	return list
}

// neighbour is how a pod of a model is called as a cause.
type neighbour struct{ pod, workload string }

// neighbours returns how the pods of the model are called, whose texts all causes on the node share.
func (n *Node) neighbours() []neighbour {
	n.named.Do(func() {
		for i := range n.Model.Pods {
			pod := n.Model.Pods[i].Pod
			n.names = append(n.names, neighbour{text.QualifiedName(pod), workloads.Of(pod)})
		}
	})
	return n.names
}

// Causes is a list of them.
type Causes []Cause

// Sorted sorts the causes, those that add most first, and returns them.
func (c Causes) Sorted() Causes {
	slices.SortStableFunc(c, func(a, b Cause) int {
		return cmp.Or(cmp.Compare(b.Dilation, a.Dilation), cmp.Compare(a.Pod, b.Pod), cmp.Compare(a.Device, b.Device))
	})
	return c
}

// Sum returns what causes of some kinds add, or all of them where no kind is given.
func (c Causes) Sum(kinds ...Kind) float64 {
	sum := 0.0
	for _, cause := range c {
		if len(kinds) == 0 || slices.Contains(kinds, cause.Kind) {
			sum += cause.Dilation
		}
	}
	return sum
}

// At returns those at a resource: the CPU, or [Disk].
func (c Causes) At(resource string) (some Causes) {
	for _, cause := range c {
		if cmp.Or(cause.Resource, string(corev1.ResourceCPU)) == resource {
			some = append(some, cause)
		}
	}
	return some
}

// negligibleCause is the part of a dilation up to which it is a rounding error.
const negligibleCause = 1e-9

// add adds the causes that cause anything but a rounding error.
func (c *Causes) add(some ...Cause) {
	for _, cause := range some {
		if cause.Dilation > negligibleCause {
			*c = append(*c, cause)
		}
	}
}

// byLimits returns what each limit adds, given what all of them do.
func (r *Pod) byLimits(dilation float64) (list Causes) {
	sum := 0.0
	for i := range r.Limits {
		sum += r.Limits[i].seconds
	}
	for i := range r.Limits {
		l := &r.Limits[i]
		list = append(list, Cause{Kind: ByLimit, Container: l.Container, Limit: l.quantity(), Assumed: l.assumed, Dilation: dilation * l.seconds / sum})
	}
	return list
}
