package probing_test

import (
	"fmt"

	"loadline.dev/loadline/pkg/model/probing"
)

// FileComp beside a standard job that does nothing but compute, and one that does
// nothing but read: three rounds of each.
func Example() {
	rounds := [][]probing.Dilations{
		{{Probe: 1.57, Target: 123.7 / 78.1}, {Probe: 1.58, Target: 123.2 / 77.9}, {Probe: 1.58, Target: 123.9 / 78.2}},
		{{Probe: 1.43, Target: 112.1 / 78.1}, {Probe: 1.43, Target: 111.5 / 77.9}, {Probe: 1.42, Target: 112.2 / 78.2}},
	}
	loadings := make([]probing.Estimate, len(rounds))
	for i, dilations := range rounds {
		resource, err := probing.Measure(probing.Setting{Servers: 1}, dilations)
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
	// Output:
	// cpu 0.578 ± 0.004, disk 0.422 ± 0.005; measured they add up to 1.017 ± 0.007
}
