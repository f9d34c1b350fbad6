package findings

import (
	"cmp"
	"slices"

	"loadline.dev/loadline/pkg/evaluate/workloads"
	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/queueing"
	"loadline.dev/loadline/pkg/node"
	"loadline.dev/loadline/pkg/text"
)

// waiting holds the causes for which a pod waits for a processor by the model, in times of its own; they add up.
type waiting struct {
	itself, system float64
	by             []float64 // by the index of a pod in the model
}

func (w *waiting) total() float64 {
	sum := w.itself + w.system
	for _, b := range w.by {
		sum += b
	}
	return sum
}

// waitingOf returns why a pod of a node waits, by the model, given its solution.
//
// The dilation of a prediction is relative to the pod alone, with its own threads in each other's way, so what it adds is
// longer by that, and by what the limit leaves of the time alone.
func waitingOf(n *node.Node, at int, p *contention.Prediction) (*waiting, error) {
	w, vector := &waiting{}, n.Pods[at].AtDevices()
	if vector[0].Threads > n.Servers[0] {
		single, err := contention.Predict([]loading.Vector{vector}, n.Servers, queueing.Options{})
		if err != nil {
			return nil, err
		}
		w.itself = vector[0].Loading * single.Wait(0, 0)
	}
	longer := (1 + w.itself) * p.Throttling(at)
	blame := p.BlameAt(at, 0)
	w.by = make([]float64, len(n.Pods))
	for i, b := range blame {
		if i < len(w.by) {
			w.by[i] = b * longer
		} else {
			w.system += b * longer
		}
	}
	return w, nil
}

// believed is by how much more than the model says a pod may have waited for the model to explain all of it. Queues of
// several cores are longer than the one queue of the model, so that it says rather too little.
const believed = 2

// waits returns why the pod, which is in the model, waits by it, and by how much its limit makes longer what it takes alone.
func (r *resident) waits() (w *waiting, throttling float64, err error) {
	p, err := r.node.predict()
	if err != nil {
		return nil, 0, err
	}
	w, err = waitingOf(r.node.model, r.index, p)
	return w, p.Throttling(r.index), err
}

// waited returns the part of the dilation that is waiting for a processor.
func (o *observation) waited() float64 {
	sum := o.times.Wait + o.times.Throttled + o.stolen
	if sum <= 0 {
		return 0
	}
	return max(0, o.dilation-1) * o.times.Wait / sum
}

// explain returns why a pod is slowed down.
func (r *resident) explain() (causes, error) {
	excess, sum := r.dilation-1, r.times.Wait+r.times.Throttled+r.stolen
	if excess <= 0 || sum <= 0 {
		return nil, nil
	}
	var list causes
	limited := r.limited()
	list.add(Cause{Kind: ByHypervisor, Dilation: excess * r.stolen / sum})
	waited := r.waited()
	w, throttling := &waiting{by: make([]float64, len(r.node.model.Pods))}, 1.0
	if r.index >= 0 {
		var err error
		if w, throttling, err = r.waits(); err != nil {
			return nil, err
		}
	}
	total := w.total()
	explained := min(waited, believed*total)
	// While it waits a pod uses nothing of its quota, so that it is throttled for less: without its neighbours it would be for
	// as long.
	if limited > 0 {
		limited += min(waited-explained, max(0, throttling-1-limited))
	}
	list.add(r.byLimits(limited)...)
	if total > 0 {
		w.scale(explained / total)
	}
	left := excess - list.sum(ByLimit, ByHypervisor)
	w.raise(r.least(min(left, waited)), left)
	list.add(Cause{Kind: ByUnclear, Dilation: left - w.total()})
	list.add(Cause{Kind: ByItself, Dilation: w.itself})
	list.add(Cause{Kind: BySystem, Dilation: w.system})
	for i, b := range w.by {
		other := r.node.model.Pods[i]
		list.add(Cause{Kind: ByNeighbour, Pod: text.QualifiedName(other), Workload: workloads.Of(other.Pod), Dilation: b})
	}
	return list.sorted(), nil
}

// causes is a list of them.
type causes []Cause

func (c causes) sorted() causes {
	slices.SortStableFunc(c, func(a, b Cause) int { return cmp.Or(cmp.Compare(b.Dilation, a.Dilation), cmp.Compare(a.Pod, b.Pod)) })
	return c
}

// sum returns what causes of some kinds add.
func (c causes) sum(kinds ...Kind) float64 {
	sum := 0.0
	for _, cause := range c {
		if slices.Contains(kinds, cause.Kind) {
			sum += cause.Dilation
		}
	}
	return sum
}

// add adds the causes that cause anything but a rounding error.
func (c *causes) add(some ...Cause) {
	const rounding = 1e-9
	for _, cause := range some {
		if cause.Dilation > rounding {
			*c = append(*c, cause)
		}
	}
}

// byLimits returns what each limit adds, given what all of them do.
func (r *resident) byLimits(dilation float64) (list causes) {
	sum := 0.0
	for i := range r.limits {
		sum += r.limits[i].seconds
	}
	for i := range r.limits {
		l := &r.limits[i]
		list = append(list, Cause{Kind: ByLimit, Container: l.container, Limit: l.quantity(), Assumed: l.assumed, Dilation: dilation * l.seconds / sum})
	}
	return list
}
