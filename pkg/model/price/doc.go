// Package price says what it costs a node to take one more job: the first-order model of package contention, made fast
// enough for the scheduler.
//
// Put W = Σ_j (λ_j − 1), the sum of the dilations less 1 over the threads of a node. One more job raises W by what it waits
// plus what it makes the others wait. A [Load] holds what the jobs of a node add up to, [Prices] what one more would cost,
// and [Prices.Of] answers ΔW for a [Candidate] with two dot products, exactly, without an allocation. Both parts are relative
// to the neutral time of each job. For one server and symmetric jobs ΔW = 2 p'·p̄, so the cheapest node is that of
// Definition 2 of Lim et al., "D-factor", SIGMETRICS 2012: min p'·p̄.
package price
