// Package probing turns measured slowdowns into loading vectors.
//
// A probe is a job that does nothing but use one resource, with one worker for each server of the
// resource, so that it keeps all of them busy. It runs alone and beside a target, in turn: the
// ratio of each one's time beside the other to its time alone measures the target's demand at the
// resource. The package takes such rates and times, from whatever clock, and gives loadings and
// pressures with 95 % confidence intervals; it reports values that they do not determine. It starts
// nothing, waits for nothing and reads nothing: every function is pure.
//
// # What one pair of dilations tells
//
// Say that the resource has c servers, and the target t threads that spend the
// fraction p of their neutral time there. The probe's c workers are always there,
// so that with n threads of the target each of the c + n gets c/(c + n) of a
// server.
//
// One thread (t = 1) therefore takes (c + 1)/c times as long at the resource, and
// as long as alone elsewhere:
//
//	λ_target = 1 + p/c
//
// Of its dilated time it is at the resource for π = p·(1 + 1/c)/(1 + p/c), and
// while it is, the probe has c/(c + 1) of its speed. The probe's speed is
// 1 − π/(c + 1) = 1/(1 + p/c):
//
//	λ_probe = 1 + p/c
//
// Both are exact under processor sharing, however long visits are and however they
// are distributed. Where the resource does not share evenly they differ, and are
// measured as two quantities: the pressure q = c (λ_probe − 1) of the target, how
// much it stands in others' way, and its sensitivity s = c (λ_target − 1), what waiting
// costs it. With c = 1 this is Property 3 of Lim et al., "D-factor", SIGMETRICS 2012.
//
// Several threads (t > 1) meet each other at the resource as well, and
// λ_probe = 1 + t·p/c holds to first order in p only: two threads with p = ½ at
// one server dilate the probe to 2.2, not 2. [Among], and with it [Measure], asks
// package contention for the exact answer and inverts that.
//
// # Work conservation
//
// A resource that the probe keeps busy hands out c seconds of service in a second.
// Of these the probe gets c/λ_probe, so that the target gets the rest, for λ_target
// times its neutral time:
//
//	p = λ_target · c · (1 − 1/λ_probe) / t
//
// ([Loading].) That is exact for any number of threads and any order of service,
// also where the resource favours one of the two, as long as the probe keeps it
// busy and its work costs the same beside the target as alone. A scheduler that
// favours those who sleep gives s < p < q.
//
// # Noise
//
// A dilation near 1 is measured as often a little below 1 as above it. Nothing is clamped before it
// is averaged, or averages would be too high; reported values lie between 0 and 1. [GeometricMean]
// defines the intervals.
//
// # What else is here
//
//   - [Measure] combines the rounds of one probe, [AddUp] its results for several
//     resources into one vector.
//   - [Among] accounts for other jobs on the node.
//   - [Copies] is another method, without a probe: Algorithm 1 of the paper.
//   - Package calibration finds how many servers a resource has.
package probing
