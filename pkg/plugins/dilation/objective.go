package dilation

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	fwk "k8s.io/kube-scheduler/framework"

	"loadline.dev/loadline/apis/config/v1alpha1"
	"loadline.dev/loadline/pkg/node"
)

// costOf returns the function that prices a node by an objective: the lower the better, at least 0.
func (d *Dilation) costOf(objective v1alpha1.Objective) func(context.Context, *cycle, fwk.NodeInfo) float64 {
	switch objective {
	case v1alpha1.ObjectiveTotal:
		return d.total
	case v1alpha1.ObjectiveOwn:
		return d.own
	case v1alpha1.ObjectiveSLARisk:
		return d.slaRisk
	case v1alpha1.ObjectivePacking:
		return d.packing
	}
	panic(fmt.Sprintf("objective %q was accepted as valid", objective))
}

// total is the dilation that is added to the pod and to its neighbours.
func (d *Dilation) total(ctx context.Context, c *cycle, node fwk.NodeInfo) float64 {
	n := d.pricesOf(ctx, c, node)
	return n.prices.Of(c.pod.On(n.class))
}

// own is the dilation of the pod alone.
func (d *Dilation) own(ctx context.Context, c *cycle, node fwk.NodeInfo) float64 {
	n := d.pricesOf(ctx, c, node)
	waits, _ := n.prices.Parts(c.pod.On(n.class))
	return waits
}

// slaRisk is about how near a pod of the node comes to its bound with the pod there, and among nodes of about the same risk
// the total: it decides within a hundredth of what a bound allows. A risk has a limit, which that of a bound of 1 would not
// have.
func (d *Dilation) slaRisk(ctx context.Context, c *cycle, node fwk.NodeInfo) float64 {
	const within, highest = 0.01, 1e6
	risk, r := 0.0, d.residentsOf(c, node)
	if c.candidate.promise.MaxDilation > 0 || r.bounded() {
		risk = min(r.estimate(c.candidate).Risk, highest)
	}
	total := d.total(ctx, c, node)
	return risk + within*total/(1+total)
}

// packing is below 1 on a node where, by an estimate, no pod would be dilated more than it may be, and the lower the fuller the
// node is by requests; on another it is 1 plus the total. [Dilation.confirm] solves the accurate model for the best nodes.
func (d *Dilation) packing(ctx context.Context, c *cycle, node fwk.NodeInfo) float64 {
	r := d.residentsOf(c, node)
	fits := d.certainlyPacked(c, r)
	if !fits {
		fits = r.estimate(c.candidate).Worst-1 <= (d.args.PackingMaxDilation-1)*(1+packingMargin)
	}
	if fits {
		return 1 - fullness(node)/2
	}
	return d.unpacked(ctx, c, node)
}

// certainlyPacked reports whether no pod would be dilated more than it may be by packing, without solving anything.
func (d *Dilation) certainlyPacked(c *cycle, r *residents) bool {
	most := d.args.PackingMaxDilation
	return r.certain(c.candidate, most, func(node.Bound) float64 { return most })
}

// packingMargin is by which part of what a limit allows an estimate may be above it without the node being passed over:
// estimates of nodes near their limits are commonly off by less.
const packingMargin = 0.03

// unpacked is the cost of a node where a pod would be dilated more than it may be.
func (d *Dilation) unpacked(ctx context.Context, c *cycle, node fwk.NodeInfo) float64 {
	return 1 + d.total(ctx, c, node)
}

// confirm sees to it that on the node of the lowest cost, of those whose costs are by packing, no pod would be dilated more
// than it may be by the accurate model, either: it solves the best one, and where that does not hold raises its cost and looks
// at the next, until one holds or none is left.
func (d *Dilation) confirm(ctx context.Context, c *cycle, scores fwk.NodeScoreList) error {
	for ctx.Err() == nil {
		best := slices.MinFunc(scores, func(a, b fwk.NodeScore) int { return cmp.Compare(a.Score, b.Score) })
		if decodeCost(best.Score) >= 1 {
			return nil // pods would be dilated too much on all
		}
		node, err := c.nodes.Get(best.Name)
		if err != nil {
			return err
		}
		if d.withinPacking(c, node) {
			return nil
		}
		at := slices.Index(scores, best)
		scores[at].Score = encodeCost(d.recost(c, node, d.unpacked(ctx, c, node)))
	}
	return ctx.Err()
}

// withinPacking reports whether no pod of the node would be dilated more than it may be by packing, for sure or by the accurate model.
func (d *Dilation) withinPacking(c *cycle, node fwk.NodeInfo) bool {
	r := d.residentsOf(c, node)
	if d.certainlyPacked(c, r) {
		return true
	}
	return r.add(c.candidate, c.budget).Worst <= d.args.PackingMaxDilation
}

// fullness is the part of a node's CPU or memory that its pods request, the larger of the two, from 0 to 1. What the new
// pod requests is the same on every node.
func fullness(node fwk.NodeInfo) float64 {
	requested, there := node.GetRequested(), node.GetAllocatable()
	full := 0.0
	for _, part := range [][2]int64{{requested.GetMilliCPU(), there.GetMilliCPU()}, {requested.GetMemory(), there.GetMemory()}} {
		if part[1] > 0 {
			full = max(full, float64(part[0])/float64(part[1]))
		}
	}
	return min(1, full)
}
