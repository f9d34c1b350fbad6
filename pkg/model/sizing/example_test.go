package sizing_test

import (
	"context"
	"fmt"

	"loadline.dev/loadline/pkg/model/sizing"
)

// Case 2 of Table 2: a small class with a strict SLA, a larger one with a loose one.
func Example() {
	classes := []sizing.Class{
		{Name: "checkout", Arrival: 0.6, Service: 1, SLA: sizing.SLA{Within: 3, Probability: 0.95}},
		{Name: "search", Arrival: 3.6, Service: 1, SLA: sizing.SLA{Within: 5, Probability: 0.8}},
	}
	plan, err := sizing.Best(context.Background(), classes, sizing.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s pools, %d servers\n", plan.Strategy, plan.Servers)
	for _, pool := range plan.Pools {
		name := classes[pool.Classes[0]].Name
		fmt.Printf("%s: %d servers attain %.1f%%\n", name, pool.Servers, 100*pool.Attained[0])
	}
	// Output:
	// Dedicated pools, 8 servers
	// checkout: 4 servers attain 95.0%
	// search: 4 servers attain 82.4%
}
