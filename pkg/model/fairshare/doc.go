// Package fairshare turns shares into response times: workloads with shares of one
// server, or of a few, and how long their jobs take while all of them are at work.
//
// A [Tree] of groups and workloads goes in: the share of each among its siblings and
// the utilization of each workload. [Solve] gives the mean response time of each
// workload, as a multiple of its service time and in seconds. Nothing here knows what
// the workloads are, reads a clock or keeps state.
//
// # The standard model
//
// Shares are guarantees, not caps: what one workload leaves, others may use. The
// standard model of Bolker and Ding, as in Bolker, Ding and Rikun, "Fair share
// modeling for large systems: aggregation, hierarchical decomposition and
// randomization", says that a workload with a share of 20 % has the highest priority
// for 20 % of the time; meanwhile each of the others has the next one in proportion to
// its share among them, and so on. In a tree the groups are put in order like that,
// and within each group its members. Higher priorities preempt lower ones, which
// resume later. With σ the utilization of the workloads ahead of w, u its own and S
// its mean service time,
//
//	R(w | order) = S / ((1 − σ)(1 − σ − u))       for equal, exponential service times
//	R(w)         = Σ over orders P(order) R(w | order)
//
// # Methods
//
//	             what it costs, n workloads in a group          error
//	Race         n × the nodes of a double integral, any tree   Options.Tolerance, estimated
//	Subsets      n·2ⁿ, times that of the groups around          rounding
//	Hierarchical n!, times that of the groups around            rounding
//	Permutations Π n! over all groups                           rounding
//	MonteCarlo   n² per sampled order of the whole tree         random, with confidence intervals
//	AHMC         n² per sampled order of each group             random, with confidence intervals
//
// [Race] rests on a fact about exponential clocks: let each member of a group ring
// after an exponential time with its share as the rate. Then they ring in the order of
// the model, and given when w rings each other is ahead of it independently. With
// 1/(1 − ρ) = ∫ e^−(1−ρ)x dx that gives, for c = 1 − U the idle fraction,
//
//	R(w)/S = 1/u ∫ e^−cx (1 − e^−ux) Π M(x) dx     the product is over w and the groups around it
//	M(x)   = ∫ s e^−st Π [(1 − e^−s't) + e^−s't e^−u'x] dt    (s its share; s', u' those of each sibling)
//
// # Beyond the standard model
//
// Service times that differ between workloads and have any second moment: preemptive
// priority in an M/G/1 queue, with a = λE[S²]/2 = u·E[S²]/(2S) the residual work that a
// workload brings and α the sum of it over those ahead,
//
//	R(w | order) = S/(1 − σ) + (α + a)/((1 − σ)(1 − σ − u))
//
// Several processors, each of which serves one job: for equal, exponential service
// times the workloads down to w see nothing of those behind, and together are as many
// jobs as in an M/M/m queue of their load, N(ρ); so R(w | order)/S = (N(σ+u) − N(σ))/u.
// That is exact too. For other service times there is no exact solution with several
// processors, and [Solve] refuses them. [Caps] takes shares as limits instead.
//
// # The conservation law
//
// Whatever the order, the mean unfinished work is the same. In the general case
//
//	Σ u(R − S·D) + a·D = Σ a / (1 − U)     D = E[1/(1 − σ)], the stretch of a service
//
// which for equal exponential service times is Σ u·R = S·U/(1 − U), and with several
// processors S·N(U). [Result] has the residual.
package fairshare
