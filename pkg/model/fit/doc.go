// Package fit learns how much jobs slow each other down from measurements of
// who ran with whom and how much longer each took than alone.
//
// It takes runs (the jobs that shared a node, each with its measured dilation)
// and gives every job a sensitivity s_j and a pressure q_j at each of a few
// resources, with confidence intervals, such that to first order
//
//	λ_j = 1 + s_j · Σ_{k≠j} q_k
//
// With q = s = p and resources of one server this is Eq. (5) of Lim et al.,
// "D-factor", SIGMETRICS 2012. It is pure: it reads no files, no clock and no
// global source of randomness, and the same input and seed give the same
// answer.
//
// [Fit] uses any co-locations at all, n-way, with values missing. Resources may be named, with some
// jobs known, or hidden; then the number that predicts unseen runs best is found. Jobs that load a
// single resource and are known make the most accurate runs (Property 3 of the paper).
//
// # How Fit works
//
// It minimizes the squared relative error of the dilations, ((λ̂ − λ)/λ)², with weights that lower
// the influence of outliers (Cauchy's), by alternating over the jobs: with everything else held,
// one job's sensitivities, or its pressures, are the solution of a small non-negative least-squares
// problem. A pull draws each job towards the belief about it or else towards the average job, as
// strongly as a stated number of typical observations; so a job seen once, or never, still has an
// answer, and [Result.Unidentified] lists the parts of it that were not measured. The number of
// resources, the strength of the pull, whether pressures differ from sensitivities, and the solver
// are chosen by cross-validation over runs; of models that predict equally well the simplest is
// taken.
//
// Where similar pairs reveal more than the vectors, predictions of hidden resources are corrected,
// see [Correction].
//
// # Fractions, or not
//
// In the paper a loading is a fraction of the neutral time: at each job they add
// up to at most 1, and two jobs can at most double each other's time. Measured
// accelerators break that bound (a small job beside one with long kernels takes
// many times as long), so [Options.Fractions] asks for it only where it holds.
package fit
