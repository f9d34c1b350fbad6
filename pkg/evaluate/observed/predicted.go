package observed

import (
	"math"

	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/node"
)

// Predicted returns the dilation of a pod that is in the model of a node that is solved, by it: with what it was observed to wait at disks.
// [AtDisk.Predicted] has what it would wait there by a model.
func (r *Pod) Predicted() (float64, error) {
	waits, throttling, err := r.Waits()
	if err != nil {
		return 0, err
	}
	return throttling + waits.Total(), nil
}

// AtDisk is a node whose disk is a resource of the model, as its processors are, and how pods fare there by it.
type AtDisk struct {
	prediction *contention.Prediction
	model      *node.Node
	index      map[*Pod]int // of those in the model
}

// AtDisk returns the node with a disk that serves a number of requests at once, and reports whether there is such a model: the node is solved without
// the disk, and it is known of some pod that disks serve it. Pods have the loadings that a profile would have of them ([Observation.Profiled]). All
// time for which a pod of which these are not known was blocked is part of its time alone.
func (n *Node) AtDisk(servers int) (at *AtDisk, served bool, err error) {
	if n.Prediction == nil {
		return nil, false, nil
	}
	model := *n.Model
	model.Servers, model.Pods = []int{n.Model.Servers[0], servers}, nil
	at = &AtDisk{model: &model, index: map[*Pod]int{}}
	maxThreads := n.maxThreads()
	for _, r := range n.Pods {
		vector, atDisk := r.withDisk(maxThreads)
		if r.Index < 0 && !atDisk {
			continue
		}
		served = served || atDisk
		at.index[r] = len(model.Pods)
		model.Pods = append(model.Pods, node.Pod{Pod: r.Object, Vector: vector})
	}
	if !served {
		return nil, false, nil
	}
	if system := n.Model.System.Vector; system != nil {
		model.System.Vector = loading.Vector{system[0], {}}
	}
	if at.prediction, err = model.Predict(); err != nil {
		return nil, false, err
	}
	return at, true, nil
}

// withDisk returns the vector of the pod with what disks do for it, and reports whether it is known that they do more than next to nothing.
func (r *Pod) withDisk(maxThreads int) (v loading.Vector, atDisk bool) {
	v = append(r.vector(maxThreads), loading.Demand{Threads: 1})
	if r.Index >= 0 {
		v[0] = r.Node.Model.Pods[r.Index].Vector[0] // with bursts as its limits are
	}
	alone, known := r.Profiled()
	if !known {
		return v, false
	}
	scale := max(1, math.Round(r.Threads)/float64(v[0].Threads)) // of more threads than the model takes
	cpu := min(1, alone.CPU*scale)
	disk := min(alone.Disk*scale, 1-cpu)
	v[0].Loading, v[0].Pressure = cpu, cpu
	v[1] = loading.Demand{Loading: disk, Pressure: disk, Threads: v[0].Threads}
	return v, disk >= negligible
}

// Predicted returns the dilation of a pod by the model, and reports whether it is in it.
func (d *AtDisk) Predicted(r *Pod) (dilation float64, is bool, err error) {
	at, is := d.index[r]
	if !is {
		return 0, false, nil
	}
	itself, err := WaitsForItself(d.model, at)
	if err != nil {
		return 0, false, err
	}
	throttling := d.prediction.Throttling(at)
	dilation = throttling + itself + (1+itself)*throttling*(d.prediction.Dilations[at]-1)
	if _, known := r.Profiled(); !known {
		dilation *= r.Longer() // of which nothing is in the model
	}
	return dilation, true, nil
}
