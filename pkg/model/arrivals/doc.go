// Package arrivals generates when jobs arrive, and of which type they are.
//
// A [Process] gives the gap to the next arrival. Its family says how regular the
// arrivals are, by the squared coefficient of variation of the gaps (scv), their
// variance over their squared mean:
//
//	Constant          0      a clock
//	Gamma             any    regular below 1, in bursts above
//	Exponential       1      independent of each other (Poisson arrivals)
//	LogNormal         any    rare long gaps
//	Hyperexponential  ≥ 1    busy times and quiet ones
//	Empirical         as observed
//
// [Times] adds up the gaps, and a [Mix] chooses the types of the jobs by weight:
//
//	gaps, err := arrivals.Exponential(6, arrivals.Source(seed, arrivals.Gaps))
//	mix, err := arrivals.NewMix([]float64{2, 1}, arrivals.Source(seed, arrivals.Types))
//	for time := range arrivals.Times(gaps, 1000) {
//		replay(time, mix.Choose())
//	}
//
// Everything is deterministic for a seed. Whatever is to vary on its own draws
// from a source of its own, which [Source] derives from the one seed: with other
// weights, or more types, jobs still arrive at the same times.
//
// The package knows no clock and no jobs. A process and a mix are not safe for
// concurrent use, as sources are not.
package arrivals
