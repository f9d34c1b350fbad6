// Package loading holds loading vectors: the demands of a job at each resource of a node.
//
// A [Vector] has one [Demand] for each resource: the fraction of its time that the job spends there (the paper's p), its
// pressure on others, its sensitivity to waiting, and its threads. A [Share] is its weight and limit at a resource that
// is shared by control groups. [Devices] assigns jobs to equal devices of a node, and an [Effect] says how a job presses
// on, and suffers from, a resource without a queue, such as a cache. [InEffect] bounds the cost of computing with the
// threads of jobs.
//
// The package validates and scales vectors; package contention predicts how they slow each other down.
package loading
