package probing_test

import (
	"fmt"

	"loadline.dev/loadline/pkg/model/contention/probing"
)

// FileComp beside a standard job that does nothing but compute, and one that does
// nothing but read: three rounds of each.
func Example() {
	rounds := [][]probing.Sample{
		{{Probe: 1.57, Neutral: 78.1, Beside: 123.7}, {Probe: 1.58, Neutral: 77.9, Beside: 123.2}, {Probe: 1.58, Neutral: 78.2, Beside: 123.9}},
		{{Probe: 1.43, Neutral: 78.1, Beside: 112.1}, {Probe: 1.43, Neutral: 77.9, Beside: 111.5}, {Probe: 1.42, Neutral: 78.2, Beside: 112.2}},
	}
	loadings := make([]probing.Estimate, len(rounds))
	for i, samples := range rounds {
		resource, err := probing.Measure(probing.Setting{Servers: 1, SelfDilation: 2}, samples)
		if err != nil {
			fmt.Println(err)
			return
		}
		loadings[i] = resource.Loading
	}
	vector, err := probing.AddUp(loadings)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("cpu %v, disk %v; measured they add up to %v\n", vector.Loadings[0], vector.Loadings[1], vector.Sum)
	fmt.Println("precise to 0.02:", probing.Enough(0.02, loadings...))
	// Output:
	// cpu 0.578 ± 0.004, disk 0.422 ± 0.005; measured they add up to 1.017 ± 0.007
	// precise to 0.02: true
}
