// Package mix predicts the mixes of jobs that a node runs over time, as replays need them: each mix once, and fast where
// weights are unequal.
//
// [Mixes] caches the mixes on the nodes of a class, and a [Mix] gives dilations, utilizations and prices. [Running] follows
// the remaining work of each job while mixes change, and [Completions] computes when jobs that start at given times
// complete. [EstimateSharing] approximates package contention's predictions for jobs of unequal weights.
package mix
