package fairshare

import "context"

// Sensitivity returns the derivative of the response time of each workload, relative to
// its service time, by the share of a group or workload: what one more share would do
// if the response times were linear in it. Only Servers of the options matters: it uses
// [Race], and four differences around the share.
//
// It is good to about eight digits of the largest entry. The errors are those of [Solve]
// and [Tree.Find]; the root, which has no siblings, has no share to change.
func Sensitivity(ctx context.Context, tree *Tree, path string, options Options) ([]float64, error) {
	node, err := tree.Find(path)
	if err != nil {
		return nil, err
	}
	options.Method = Race
	options.Tolerance = 1e-12
	slopes := make([]float64, tree.Len())
	// Central differences of fourth order by the relative change of the share.
	const step = 1e-3
	for _, d := range []struct{ steps, weight float64 }{{-2, 1.0 / 12}, {-1, -8.0 / 12}, {1, 8.0 / 12}, {2, -1.0 / 12}} {
		share := node.Share * (1 + step*d.steps)
		changed, err := tree.With(Change{Path: path, Share: &share})
		if err != nil {
			return nil, err
		}
		r, err := Solve(ctx, changed, options)
		if err != nil {
			return nil, err
		}
		for w, f := range r.Factors {
			slopes[w] += d.weight * f / (step * node.Share)
		}
	}
	return slopes, nil
}
