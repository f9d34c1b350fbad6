package explanation

import (
	"k8s.io/apimachinery/pkg/api/resource"

	"loadline.dev/loadline/pkg/cgroup"
	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/node"
	"loadline.dev/loadline/pkg/text"
)

// Weight says how neighbours with more weight affect a pod.
type Weight struct {
	// Neighbour is the pod that it waits for most at the CPU, and Request what that one requests of it.
	Neighbour string            `json:"neighbour"`
	Request   resource.Quantity `json:"request"`
	// Times is how many times the weight of the pod the neighbour has: as many times as much of the CPU it gets while all pods
	// want it.
	Times float64 `json:"times"`
	// Remedy is how it would fare if it requested what it needs, absent if it does, or if that is not left.
	Remedy *WhatIf `json:"remedy,omitempty"`
}

const (
	// minWorse is by how much a pod must be worse off than with equal shares for its weight to be blamed.
	minWorse = 0.05
	// minTimes is by how much the weight of the neighbour must be larger.
	minTimes = 1.2
)

// weigh says what weight did to the pod, nothing if it is no worse off than with equal shares.
func (p *placed) weigh(shared *node.Shared, equal *contention.Prediction) (*Weight, error) {
	if p.now.Dilations[0]-equal.Dilations[0] < minWorse || shared.Pool.Exclusive[0] > 0 {
		return nil, nil
	}
	blame := p.now.BlameAt(0, p.CPU)
	most := 0
	for j := range blame {
		if blame[j] > blame[most] {
			most = j
		}
	}
	portions := portions(shared.Pool)
	if most == 0 || portions[most] < minTimes*portions[0] {
		return nil, nil
	}
	w := &Weight{Neighbour: text.QualifiedName(p.Pods[most]), Times: portions[most] / portions[0]}
	needs := node.Needs(p.Pods[0].AtDevices()[p.CPU])
	if request, _ := cgroup.CPU(p.Pods[most].Pod); request != nil {
		w.Request = *request
	}
	request, limit := cgroup.CPU(p.Pods[0].Pod)
	if limit != nil {
		needs = min(needs, limit.MilliValue())
	}
	if needs <= request.MilliValue() || needs > p.free.MilliValue() {
		return w, nil
	}
	remedy, err := p.answerFor(resource.NewMilliQuantity(needs, resource.DecimalSI), nil)
	if err != nil || remedy.Dilation > p.now.Dilations[0]-minWorse {
		return w, err
	}
	w.Remedy = remedy
	return w, nil
}

// portions returns what part of the CPU each pod gets while all want it.
func portions(pool *cgroup.CorePool) []float64 {
	sums := make([]float64, len(pool.Groups)) // of the weights of the members
	for g := range pool.Groups {
		if g > 0 {
			sums[pool.Groups[g].Parent] += pool.Groups[g].Weight
		}
	}
	for _, s := range pool.Shares {
		sums[s.Group] += s.Weight
	}
	part := make([]float64, len(pool.Groups))
	part[0] = 1
	for g := 1; g < len(part); g++ {
		part[g] = part[pool.Groups[g].Parent] * pool.Groups[g].Weight / sums[pool.Groups[g].Parent]
	}
	all := make([]float64, len(pool.Shares))
	for j, s := range pool.Shares {
		if s.Weight > 0 {
			all[j] = part[s.Group] * s.Weight / sums[s.Group]
		}
	}
	return all
}
