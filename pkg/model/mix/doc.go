// Package mix predicts the mixes of jobs that a node runs over time, as replays need them: each mix once, and fast where
// weights are unequal.
//
// [Mixes] caches the mixes on the nodes of a class, and a [Mix] gives dilations, utilizations and prices. [Running] follows
// how much of each job is left while mixes change, and [Completions] says when jobs that start at given times complete.
// [EstimateSharing] approximates what package contention predicts for jobs of unequal weights.
package mix
