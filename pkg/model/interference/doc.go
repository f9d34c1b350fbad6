// Package interference computes the slowdown of jobs' service by each other at resources that have no queue: caches,
// memory bandwidth, the units of a core.
//
// It takes the loading vectors of the jobs of a node with their effects, and returns each job's [Inflation]: the factor by
// which its service takes longer beside the others, and beside its own threads. Package contention queues the inflated
// jobs. To first order, [EffectPrices] returns the slowdown that one more job would suffer and inflict.
package interference
