// Package contention predicts how much jobs on one node slow each other down.
//
// It takes loading vectors (the fraction of its time that a job spends at each
// resource of a node) and the number of servers of each resource, and gives
// dilations: completion time over neutral time, at least 1. All functions are
// pure; pods, files and clocks are the callers'.
//
// The packages beside it share its model: [loadline.dev/loadline/pkg/model/loading] has the vectors,
// [loadline.dev/loadline/pkg/model/interference] makes service slower where jobs share caches,
// [loadline.dev/loadline/pkg/model/price] computes the cost of one more job on a node, and [loadline.dev/loadline/pkg/model/mix]
// predicts the many mixes of a replay.
//
// # The model
//
// A job that is at a resource with c servers together with N other jobs runs
// there at 1/max(1, (N+1)/c) of its full speed. To first order the others are
// where their loading vectors say, independently of each other, so that N is a
// sum of independent Bernoulli variables and job j is dilated by
//
//	λ_j = 1 + Σ_i s_ij · E[(N_i + 1 − c_i)^+] / c_i
//
// where s_ij is the job's own loading (its sensitivity) and N_i counts the
// others, each there with probability q_ik (its pressure, equal to s_ik unless
// measured otherwise). With one server per resource and q = s = p this is
// Eq. (5) of Lim et al., "D-factor", SIGMETRICS 2012:
//
//	λ_j = 1 + p_j·p̄ − p_j·p_j
//
// A job with t threads at a resource counts there as t jobs.
//
// # Neutral time
//
// The neutral time of a job is its time alone on the node. Where the job has more threads than a resource has servers, its threads
// wait for each other even then, and that wait is part of it: alone every job has λ = 1. A loading vector, on the other hand, does
// not depend on the number of servers: it holds fractions of the job's own time, the time of a thread that never waits, not even
// for its siblings. For a job with one thread, or with no more threads than there are servers, both times are equal. With R_j the
// response of job j, in own times, and R_j⁰ its response alone on the same node ([Alone]),
//
//	λ_j = R_j / R_j⁰,   R_j = 1 + Σ_i s_ij · E[(N_i + 1 − c_i)^+] / c_i
//
// where N_i counts the siblings of a thread, too. All dilations are such
// ratios.
//
// The first-order model is exact for two jobs and c = 1. For many jobs it can
// imply a resource that is more than fully busy; rank placements by it, and use
// [Predict] for dilations, which looks for the others where they are when all are
// dilated, by any of the solvers of package queueing.
//
// # Interference
//
// Jobs also slow each other down where none waits: at caches, memory bandwidth, and the units of a core. Such
// resources make the service of others slower, by a [loading.Effect] of each job: service is inflated first, then the
// jobs queue. On a node without effects nothing changes.
//
// # Devices
//
// A node often has several accelerators, and a job is assigned to one of them: it queues there and presses there only.
// A [loading.Demand] has the number of the device, and jobs at different devices do not meet. How the jobs of one device
// share it is up to the device's driver: see [loading.Devices].
package contention
