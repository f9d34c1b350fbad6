package arrivals_test

import (
	"fmt"

	"loadline.dev/loadline/pkg/model/arrivals"
)

// Jobs of two types, twice as many of the first, arrive every six seconds on
// average.
func Example() {
	const seed = 1
	gaps, err := arrivals.Exponential(6, arrivals.Source(seed, arrivals.Gaps))
	if err != nil {
		fmt.Println(err)
		return
	}
	mix, err := arrivals.NewMix([]float64{2, 1}, arrivals.Source(seed, arrivals.Types))
	if err != nil {
		fmt.Println(err)
		return
	}
	types := []string{"filecomp", "grep"}
	for time := range arrivals.Times(gaps, 4) {
		fmt.Printf("%.2fs %s\n", time, types[mix.Choose()])
	}
	// Output:
	// 25.13s grep
	// 27.36s filecomp
	// 28.24s grep
	// 29.30s grep
}
