package gps

import "testing"

// However unlike weights are, the levels at which shares are computed stand as close.
func TestLevelsAreCloseWhereWeightsAreUnlike(t *testing.T) {
	t.Parallel()
	for _, most := range []float64{1, 10, 1e3, 1e5, 1e7} {
		n := &Network{Servers: []int{4}}
		for j := range 20 {
			n.Jobs = append(n.Jobs, Job{Demands: []float64{0.5}, Weight: 1 + most*float64(j)/19})
		}
		tree := newTree(n)
		c := newClosure(tree, newRest(n, tree))
		c.start()
		c.flatten()
		c.setGrid()
		if levels := len(c.grid); levels < fewestLevels || levels > mostLevels {
			t.Errorf("weights of 1 to %v: %d levels", most, levels)
		}
		for i := 1; i < len(c.grid); i++ {
			if ratio := c.grid[i] / c.grid[i-1]; ratio > 1.01*levelRatio {
				t.Fatalf("weights of 1 to %v: level %d is %v times the one before", most, i, ratio)
			}
		}
	}
}
