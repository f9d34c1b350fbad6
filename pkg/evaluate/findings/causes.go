package findings

import (
	"cmp"
	"slices"

	"loadline.dev/loadline/pkg/evaluate"
	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/queueing"
)

// waiting is what the model says of why a pod waits for a processor, in times of its own; it adds up.
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

// waitingOf returns why a pod of a solved node waits, by the model.
//
// The dilation of a prediction is relative to the pod alone, with its own threads in each other's way, so what it adds is
// longer by that, and by what the limit leaves of the time alone.
func waitingOf(r *resident, at int, p *contention.Prediction, vector contention.Vector, servers []int) (*waiting, error) {
	w := &waiting{}
	if vector[0].Threads > servers[0] {
		single, err := contention.Predict([]contention.Vector{vector}, servers, queueing.Options{})
		if err != nil {
			return nil, err
		}
		w.itself = vector[0].Loading * single.Wait(0, 0)
	}
	longer := (1 + w.itself) * p.Throttling(at)
	blame := p.BlameAt(at, 0)
	w.by = make([]float64, len(r.place.model.Pods))
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

// split splits what was observed.
type split struct {
	causes []Cause
	// wait is the part of the dilation that is waiting for a processor, for whatever reason, and explained the part of it of which
	// the model knows why.
	wait, explained float64
	model           *waiting
}

// explain returns why a pod is slowed down.
func (r *resident) explain() (*split, error) {
	excess := r.dilation - 1
	sum := r.times.Wait + r.times.Throttled + r.stolen
	if excess <= 0 || sum <= 0 {
		return &split{}, nil
	}
	s := &split{wait: excess * r.times.Wait / sum}
	s.add(Cause{Kind: ByLimit, Dilation: excess * r.times.Throttled / sum})
	s.add(Cause{Kind: ByHypervisor, Dilation: excess * r.stolen / sum})
	if r.index < 0 {
		s.add(Cause{Kind: ByUnclear, Dilation: s.wait})
		return s, nil
	}
	p, err := r.place.predict()
	if err != nil {
		return nil, err
	}
	if s.model, err = waitingOf(r, r.index, p, r.place.model.Vectors[r.index], r.place.model.Servers); err != nil {
		return nil, err
	}
	total := s.model.total()
	s.explained = min(s.wait, believed*total)
	s.add(Cause{Kind: ByUnclear, Dilation: s.wait - s.explained})
	if total > 0 {
		scale := s.explained / total
		s.add(Cause{Kind: ByItself, Dilation: s.model.itself * scale})
		s.add(Cause{Kind: BySystem, Dilation: s.model.system * scale})
		for i, b := range s.model.by {
			other := r.place.model.Pods[i]
			s.add(Cause{Kind: ByNeighbour, Pod: evaluate.QualifiedName(other), Workload: WorkloadOf(other), Dilation: b * scale})
		}
	}
	slices.SortStableFunc(s.causes, func(a, b Cause) int { return cmp.Or(cmp.Compare(b.Dilation, a.Dilation), cmp.Compare(a.Pod, b.Pod)) })
	return s, nil
}

// add adds a cause that causes anything.
func (s *split) add(c Cause) {
	if c.Dilation > 0 {
		s.causes = append(s.causes, c)
	}
}
