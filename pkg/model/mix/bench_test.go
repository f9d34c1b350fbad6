package mix_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/mix"
	"loadline.dev/loadline/pkg/model/queueing"
)

// What a mix takes that occurs for the first time, with weights that are equal and not.
func BenchmarkMix(b *testing.B) {
	for _, n := range []int{4, 8, 30} {
		for _, weights := range []string{"equal", "unequal"} {
			b.Run(fmt.Sprintf("%d jobs/%s", n, weights), func(b *testing.B) {
				r := rand.New(rand.NewPCG(1, 8))
				types := make([]*mix.JobType, n)
				for k := range types {
					types[k] = &mix.JobType{Vector: loading.Loadings(0.9*r.Float64(), 0.1*r.Float64())}
					if weights == "unequal" {
						types[k].Weight = math.Pow(100, r.Float64())
					}
				}
				b.ReportAllocs()
				for b.Loop() {
					mixes, err := mix.NewMixes(mix.NodeClass{Servers: []int{max(1, n/4), 1}}, queueing.Options{ExactSteps: 1 << 14})
					if err != nil {
						b.Fatal(err)
					}
					together := mixes.Empty()
					for _, t := range types {
						together = together.With(t)
					}
					if together.Dilation(types[0]) < 1 {
						b.Fatal(mixes.Err())
					}
				}
			})
		}
	}
}
