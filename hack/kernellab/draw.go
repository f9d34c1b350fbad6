package main

import (
	"fmt"
	"math"
	"math/rand/v2"

	"loadline.dev/loadline/hack/kernellab/mixes"
)

// kind is how the mixes of one kind are drawn.
type kind struct {
	name                     string
	unequal, limits, threads bool
}

// kinds are in the order in which they are drawn. Mixes come in pairs of one kind, so that those of even and of odd numbers are alike.
func kinds() []kind {
	var all []kind
	for _, threads := range []bool{false, true} {
		for _, limits := range []bool{false, true} {
			for _, unequal := range []bool{false, true} {
				k := kind{unequal: unequal, limits: limits, threads: threads}
				k.name = name(unequal, "unequal", "equal") + name(limits, "-limits", "") + name(threads, "-threads", "")
				all = append(all, k)
			}
		}
	}
	return all
}

func name(is bool, yes, no string) string {
	if is {
		return yes
	}
	return no
}

// draw returns a number of mixes for some processors, named NUMBER-KIND.
func draw(n, processors int, seed uint64) []mixes.Row {
	var rows []mixes.Row
	for number := 1; number <= n; number++ {
		k := kinds()[(number-1)/2%len(kinds())]
		mix := k.draw(rand.New(rand.NewPCG(seed, uint64(number))), processors)
		for i := range mix {
			mix[i].Mix = fmt.Sprintf("%d-%s", number, k.name)
		}
		rows = append(rows, mix...)
	}
	return rows
}

// draw returns a mix.
func (k kind) draw(random *rand.Rand, processors int) []mixes.Row {
	most := min(2+4*processors, mixes.MaxPods)
	mix := make([]mixes.Row, 2+random.IntN(most-1))
	request := logUniform(random, 20, 1000)
	load := (0.4 + 0.9*random.Float64()) * float64(processors) // by all pods
	parts, sum := make([]float64, len(mix)), 0.0
	for i := range parts {
		parts[i] = random.ExpFloat64() + 0.1
		sum += parts[i]
	}
	for i := range mix {
		r := &mix[i]
		*r = mixes.Row{Pod: i + 1, Request: tens(request), Threads: 1, Kind: mixes.Exponential, Seed: random.IntN(1 << 20)}
		if k.unequal {
			r.Request = tens(logUniform(random, 20, 1000))
		}
		if k.threads && random.IntN(2) == 0 {
			r.Threads = 2 + random.IntN(3)
		}
		r.Loading = rounded(min(1, max(0.02, load*parts[i]/sum/float64(r.Threads))), 0.01)
		if random.IntN(6) == 0 {
			r.Loading = 1
		}
		r.Burst = rounded(logUniform(random, []float64{0.2, 2, 2}[random.IntN(3)], 200), 0.1)
		if random.IntN(4) == 0 {
			r.Kind = mixes.Constant
		}
		r.Forks = random.IntN(16) == 0
		if k.limits && random.IntN(2) == 0 {
			use := 1000 * r.Loading * float64(r.Threads)
			r.Limit = max(2*mixes.MinLimit, tens(use*(0.8+1.7*random.Float64())))
			if random.IntN(6) == 0 {
				r.Spare = tens(float64(r.Limit) * random.Float64())
			}
		}
	}
	observe(mix)
	return mix
}

// observe sets for how long a mix is observed: long enough for its rarest bursts, as far as its most frequent ones let it end.
func observe(mix []mixes.Row) {
	const (
		cycles          = 300   // of the pod with the longest
		wakeups         = 20000 // of all pods: they are what an emulator takes long for
		shortest, limit = 60, 240
	)
	longest, rate := 0.0, 0.0
	for _, r := range mix {
		cycle := r.Burst / 1000 / r.Loading
		longest = max(longest, cycle)
		rate += float64(r.Threads) / cycle
	}
	seconds := math.Ceil(max(shortest, min(limit, cycles*longest, wakeups/rate)))
	for i := range mix {
		mix[i].Seconds = seconds
	}
}

// logUniform returns a number between two others whose logarithm is uniform.
func logUniform(random *rand.Rand, least, most float64) float64 {
	return least * math.Pow(most/least, random.Float64())
}

// rounded returns the multiple of a step that is next to a number, and tens that of 10.
func rounded(x, step float64) float64 { return math.Round(x/step) * step }
func tens(x float64) int              { return int(rounded(x, 10)) }
