package dilation

import (
	"context"
	"math"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"loadline.dev/loadline/pkg/model/price"
)

// encodeCost returns a cost as the framework's integer score. The bits of
// floating-point numbers that are not negative sort as the numbers do, so the
// order is kept exactly, where scaling and rounding would lose it.
func encodeCost(cost float64) int64 { return int64(math.Float64bits(cost)) }

func decodeCost(score int64) float64 { return math.Float64frombits(uint64(score)) }

// NormalizeScore maps costs to scores: the lowest cost of the list to the
// highest score, the highest cost to the lowest, and linearly in between. Only
// nodes of the lowest cost get the highest score. Nodes that all cost the same
// all get the highest score. Where nodes are packed, the best is confirmed before.
func (d *Dilation) NormalizeScore(ctx context.Context, state fwk.CycleState, _ *corev1.Pod, scores fwk.NodeScoreList) *fwk.Status {
	if d.packs && len(scores) > 0 {
		c, err := cycleOf(state)
		if err == nil {
			err = d.confirm(ctx, c, scores)
		}
		if err != nil {
			return fwk.AsStatus(err)
		}
	}
	normalize(len(scores), func(i int) *int64 { return &scores[i].Score })
	return nil
}

// normalize maps n costs to scores in place.
func normalize(n int, at func(i int) *int64) {
	lowest, highest := math.Inf(1), 0.0
	for i := range n {
		cost := decodeCost(*at(i))
		lowest, highest = min(lowest, cost), max(highest, cost)
	}
	for i := range n {
		score := at(i)
		cost := decodeCost(*score)
		if price.SameCost(lowest, cost) {
			*score = fwk.MaxScore
			continue
		}
		above := (highest - cost) / (highest - lowest) // below 1
		*score = min(int64(above*float64(fwk.MaxScore)), fwk.MaxScore-1)
	}
}
