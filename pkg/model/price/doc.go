// Package price computes the cost of one more job on a node: the first-order model of package contention, fast enough for the
// scheduler.
//
// Put W = Σ_j (λ_j − 1), the sum of the dilations less 1 over the threads of a node. One more job raises W by its own wait
// plus the wait that it causes the others. A [Load] holds the sums over the jobs of a node, [Prices] the cost of one more
// job, and [Prices.Of] returns ΔW for a [Candidate] with two dot products, exactly, without an allocation. Both parts are
// relative to the neutral time of each job. For one server and symmetric jobs ΔW = 2 p'·p̄, so the cheapest node is that of
// Definition 2 of Lim et al., "D-factor", SIGMETRICS 2012: min p'·p̄.
package price
