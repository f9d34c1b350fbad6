package fairshare_test

import (
	"context"
	"fmt"

	"loadline.dev/loadline/pkg/model/fairshare"
)

// The departments of Fig. 2 of the paper. What if the database got a larger share?
func Example() {
	type g = fairshare.Group
	tree, err := fairshare.New(&g{Children: []*g{
		{Name: "web", Share: 0.50, Children: []*g{
			{Name: "hi", Share: 0.75, Utilization: 0.20},
			{Name: "lo", Share: 0.25, Utilization: 0.15},
		}},
		{Name: "db", Share: 0.35, Children: []*g{
			{Name: "hi", Share: 0.75, Utilization: 0.20},
			{Name: "lo", Share: 0.25, Utilization: 0.20},
		}},
		{Name: "it", Share: 0.15, Utilization: 0.05},
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	more, err := tree.With(fairshare.Change{Path: "db", Share: new(1.0)})
	if err != nil {
		fmt.Println(err)
		return
	}
	now, err := fairshare.Solve(context.Background(), tree, fairshare.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	then, err := fairshare.Solve(context.Background(), more, fairshare.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for w, leaf := range tree.Workloads() {
		fmt.Printf("%-6s %5.2f %5.2f\n", leaf.Path, now.Factors[w], then.Factors[w])
	}
	// Output:
	// web/hi  3.27  4.37
	// web/lo  5.00  6.89
	// db/hi   3.78  2.68
	// db/lo   5.90  3.98
	// it     13.17 15.21
}
