// Package queueing solves queues: closed networks in which every job may be different,
// and open queues at which jobs arrive at random.
//
// # Open queues
//
// How long do responses take? Rates are in jobs per unit of time, any unit; times are in
// that unit. All queues are in the steady state, and an offered load that keeps all
// servers busy is refused with [ErrUnstable].
//
//	            order                  service times             answer
//	[MMm]       first come first       exponential               exact
//	[MGm]       first come first       any variation, classes    exact where that is quick; its Error otherwise
//	[Priority]  higher classes first   exponential, one rate     exact to 1e-9
//
// [Queues] gives one queue after the other, with one server more each, to find how many
// are enough.
//
// # Closed networks
//
// Who is slowed down by how much when certain jobs share certain stations?
//
// A [Network] is a list of stations, each with a number of servers, and a list of classes: a job, or several
// copies of it, with its service demand at each station and its idle time. A job goes round for ever. Its
// dilation is the ratio of the time of a round to that of a round alone, and depends only on the proportions
// of its demands and idle time. [Solve] computes the dilations, and where jobs wait. It is a pure function,
// for any kind of jobs and stations.
//
// # Service
//
// A station with c servers and n jobs serves each at min(1, c/n) of full speed:
// processor sharing. With one job per class that is the product-form network of
// Baskett, Chandy, Muntz and Palacios, "Open, closed, and mixed networks of queues
// with different classes of customers", JACM 22 (2), 1975, whatever the order in
// which jobs visit stations and however service times are distributed. The wait of
// a job at a station, W, is in units of its service time there, so that its time
// there is D·(1 + W), and
//
//	λ_j = 1 + Σ_i D_ij W_ij        (times relative to the neutral time, Σ_i D_ij + Z_j = 1)
//	W_ij = E[(N + 1 − c_i)⁺] / c_i  (N the others that job j finds at station i)
//
// By the arrival theorem a job finds the network without it. The solvers differ in how they solve that.
//
// # The ladder
//
//	            finds the others                   cost of n classes at m stations
//	FirstOrder  where they would be alone          n·m
//	Schweitzer  where they are with it             n·m² per iteration
//	Linearizer  where they are without it, nearly  n²·m per iteration
//	Exact       where they are without it          n·m·C(n+m, m) or Π(copies+1)·n·m
//
// A station with many servers adds N² for its N jobs to all of the approximations, and counts in Exact as that
// number of stations in the second form. See [Solver] for the errors, and [Auto] for the choice. Stations
// where no job ever waits, because there are enough servers for all jobs, cost nothing.
//
// # Beyond standard theory
//
// Two things that measured jobs ask for have no exact solution. The pressure of a
// job, how much it stands in others' way, may differ from its demand, what waiting
// costs it: others find it at station i for the fraction (P_i + min(P_i, D_i)·W_i)/λ
// of the time, at most 1. And it may count as more than one job, its threads, at some of
// the stations.
package queueing
