package sizing_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"loadline.dev/loadline/pkg/model/sizing"
)

func BenchmarkFewest(b *testing.B) {
	for _, rate := range []float64{10, 1000, 1e6} {
		for _, probability := range []float64{0.9, 0.95} {
			classes := []sizing.Class{class(rate, 3, probability)}
			b.Run(fmt.Sprintf("%g per second, %v", rate, classes[0].SLA), func(b *testing.B) {
				for b.Loop() {
					fewest(b, classes, sizing.Options{})
				}
			})
		}
	}
}

func BenchmarkBest(b *testing.B) {
	for _, d := range []sizing.Discipline{sizing.FCFS, sizing.HOL} {
		for _, n := range []int{2, 5, 10, 12} {
			classes := draw(rand.New(rand.NewPCG(1, uint64(n))), n)
			b.Run(fmt.Sprintf("%v, %d classes", d, n), func(b *testing.B) {
				for b.Loop() {
					best(b, classes, sizing.Options{Discipline: d})
				}
			})
		}
	}
	classes := draw(rand.New(rand.NewPCG(1, 50)), 50)
	b.Run("search, 50 classes", func(b *testing.B) {
		for b.Loop() {
			best(b, classes, sizing.Options{})
		}
	})
}

// BenchmarkDifferentTimes is for classes with service times up to 1 : 1000 apart, and how
// far their pools hold.
func BenchmarkDifferentTimes(b *testing.B) {
	for _, n := range []int{2, 4, 6, 12} {
		classes := draw(rand.New(rand.NewPCG(2, uint64(n))), n)
		for k := range classes {
			faster := math.Pow(1000, float64(k)/float64(n-1))
			classes[k].Service, classes[k].Arrival, classes[k].SLA.Within = faster, faster*classes[k].Arrival, classes[k].SLA.Within/faster
		}
		b.Run(fmt.Sprintf("best, %d classes", n), func(b *testing.B) {
			for b.Loop() {
				best(b, classes, sizing.Options{})
			}
		})
		pool := fewest(b, classes, sizing.Options{})
		b.Run(fmt.Sprintf("sensitivity, %d classes, %d servers", n, pool.Servers), func(b *testing.B) {
			for b.Loop() {
				if _, err := sizing.Sensitive(b.Context(), classes, pool, sizing.Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkProcedure2 takes 10,000 combinations, for FCFS and HOL.
func BenchmarkProcedure2(b *testing.B) {
	for b.Loop() {
		if _, err := sizing.Procedure2(b.Context(), sizing.PaperSettings()[0], 10_000, nil, 1); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkProcedure1(b *testing.B) {
	for b.Loop() {
		if _, err := sizing.Procedure1(b.Context(), sizing.PaperSettings()[0], 1000, sizing.PaperAngleTable(), 1); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkPDP sizes a pool for two classes by simulation.
func BenchmarkPDP(b *testing.B) {
	for b.Loop() {
		fewest(b, twoClasses, sizing.Options{Discipline: sizing.PDP})
	}
}

// BenchmarkMeanServers reports the time of G(SLA).
func BenchmarkMeanServers(b *testing.B) {
	c := class(0, 3, 0.9)
	for b.Loop() {
		if _, err := c.MeanServers(); err != nil {
			b.Fatal(err)
		}
	}
}
