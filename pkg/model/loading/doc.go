// Package loading holds loading vectors: what a job asks of each resource of a node.
//
// A [Vector] has one [Demand] for each resource: the fraction of its time that the job spends there (the paper's p),
// how much it stands in the way of others, what waiting costs it, and its threads. A [Share] is its weight and limit at
// a resource that is shared by control groups. [Devices] assigns jobs to equal devices of a node, and an [Effect] says
// how a job presses on, and suffers from, a resource without a queue, such as a cache. [InEffect] bounds what the threads
// of jobs cost to compute with.
//
// The package validates and scales vectors; package contention predicts what they do to each other.
package loading
