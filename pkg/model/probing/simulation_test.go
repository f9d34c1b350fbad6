package probing_test

import (
	"math"
	"math/rand/v2"
)

// thread is one thread in a simulation.
type thread struct {
	loadings []float64 // the fraction of its time at each station; the rest it idles
	weight   float64   // of its share where it is served
}

// simulate returns the dilations of threads that share stations for ever, after some time. Each
// thread makes visits of exponentially distributed length, on average 1, to stations that it draws
// by its loadings, or to nowhere. A station with fewer servers than threads shares them by weight;
// no two weights differ where there are several servers. It follows the definition of processor
// sharing, without any queueing formula.
func simulate(servers []int, threads []thread, duration float64, rng *rand.Rand) []float64 {
	at, left, done := make([]int, len(threads)), make([]float64, len(threads)), make([]float64, len(threads))
	draw := func(k int) {
		u := rng.Float64()
		at[k], left[k] = -1, rng.ExpFloat64()
		for i, p := range threads[k].loadings {
			if p == 1 {
				left[k] = math.Inf(1) // it would come back at once
			}
			if u -= p; u < 0 {
				at[k] = i
				return
			}
		}
	}
	for k := range threads {
		draw(k)
	}
	weights, speeds := make([]float64, len(servers)), make([]float64, len(threads))
	for now := 0.0; now < duration; {
		clear(weights)
		for k, i := range at {
			if i >= 0 {
				weights[i] += threads[k].weight
			}
		}
		step := duration - now
		for k, i := range at {
			speeds[k] = 1
			if i >= 0 {
				speeds[k] = min(1, float64(servers[i])*threads[k].weight/weights[i])
			}
			step = min(step, left[k]/speeds[k])
		}
		now += step
		for k := range threads {
			done[k] += step * speeds[k]
			if left[k] -= step * speeds[k]; left[k] < 1e-12 {
				draw(k)
			}
		}
	}
	dilations := make([]float64, len(threads))
	for k, d := range done {
		dilations[k] = duration / d
	}
	return dilations
}

// crowd returns n equal threads.
func crowd(n int, loadings ...float64) []thread {
	threads := make([]thread, n)
	for k := range threads {
		threads[k] = thread{loadings, 1}
	}
	return threads
}

// mean returns the mean dilation of some threads, by their speeds.
func mean(dilations []float64) float64 {
	speed := 0.0
	for _, d := range dilations {
		speed += 1 / d / float64(len(dilations))
	}
	return 1 / speed
}
