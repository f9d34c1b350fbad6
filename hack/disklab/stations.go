package main

import "math"

// customer is a pod at stations: Threads of it go round, each thinking for Think seconds and then visiting each station for Demands.
type customer struct {
	threads int
	think   float64
	demands []float64
}

// station is how a station serves.
type station struct {
	servers int
	// shared reports whether it serves all who are there at once, each as much, instead of in the order in which they come.
	shared bool
}

// rates returns the units per second of each customer, by approximate mean value analysis: Bard and Schweitzer's estimate of what an
// arrival sees, Reiser's residence time at a station in order of arrival with demands that differ, and Seidmann's equivalent of several
// servers (a faster one, and a delay).
func rates(customers []customer, stations []station) []float64 {
	n, k := len(customers), len(stations)
	queue := make([][]float64, n) // mean customers of a pod at a station
	rate, stay := make([]float64, n), make([][]float64, n)
	for i, c := range customers {
		queue[i], stay[i] = make([]float64, k), make([]float64, k)
		for s := range k {
			queue[i][s] = float64(c.threads) / float64(k+1)
		}
	}
	const steps, damping = 2000, 0.3
	for range steps {
		for i, c := range customers {
			total := c.think
			for s, st := range stations {
				stay[i][s] = st.residence(customers, queue, i, s)
				servers := float64(max(1, st.servers))
				total += stay[i][s] + c.demands[s]*(servers-1)/servers
			}
			rate[i] = float64(c.threads) / total
		}
		change := 0.0
		for i := range customers {
			for s := range k {
				next := rate[i] * stay[i][s]
				change = max(change, math.Abs(next-queue[i][s]))
				queue[i][s] += damping * (next - queue[i][s])
			}
		}
		if change < 1e-9 {
			break
		}
	}
	return rate
}

// residence is how long a thread of a customer is at the station of an index, beyond the delay that stands for several servers, while the
// mean numbers of customers at stations are as in queue.
func (st station) residence(customers []customer, queue [][]float64, i, s int) float64 {
	c := customers[i]
	if c.demands[s] == 0 {
		return 0
	}
	time := c.demands[s]
	for j, other := range customers {
		seen := queue[j][s]
		if j == i { // it does not wait for itself
			seen *= float64(c.threads-1) / float64(c.threads)
		}
		if st.shared {
			time += seen * c.demands[s]
		} else {
			time += seen * other.demands[s]
		}
	}
	return time / float64(max(1, st.servers))
}
