package dilation

import (
	"context"
	"math"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
)

// tie is the relative difference below which two costs are the same: sums of
// the same numbers in another order.
const tie = 1e-12

// encodeCost returns a cost as the framework's integer score. The bits of
// floating-point numbers that are not negative sort as the numbers do, so the
// order is kept exactly, where scaling and rounding would lose it.
func encodeCost(cost float64) int64 { return int64(math.Float64bits(cost)) }

func decodeCost(score int64) float64 { return math.Float64frombits(uint64(score)) }

// NormalizeScore maps costs to scores: the lowest cost of the list to the
// highest score, the highest cost to the lowest, and linearly in between. Only
// nodes of the lowest cost get the highest score. Nodes that all cost the same
// all get the highest score.
func (*Dilation) NormalizeScore(_ context.Context, _ fwk.CycleState, _ *corev1.Pod, scores fwk.NodeScoreList) *fwk.Status {
	lowest, highest := math.Inf(1), 0.0
	for _, s := range scores {
		cost := decodeCost(s.Score)
		lowest, highest = min(lowest, cost), max(highest, cost)
	}
	for i := range scores {
		cost := decodeCost(scores[i].Score)
		if cost-lowest <= tie*cost {
			scores[i].Score = fwk.MaxScore
			continue
		}
		above := (highest - cost) / (highest - lowest) // below 1
		scores[i].Score = min(int64(above*float64(fwk.MaxScore)), fwk.MaxScore-1)
	}
	return nil
}
