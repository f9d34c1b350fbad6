// Package epochs replays a trace of jobs on a cluster, analytically: Menascé and
// Bardhan, "Epochs: Trace-Driven Analytical Modeling of Job Execution Times",
// GMU-CS-TR-2014-01.
//
// It takes jobs in order of arrival, the classes of a cluster's nodes, and a
// policy that places each job. It computes on which node each job runs, when it
// starts and ends, and how busy the nodes are. Times are seconds since the start of
// the trace.
//
// # The algorithm
//
// Between two events on a node, a job that starts there and a job that completes,
// the mix of jobs is constant: an epoch. In it each job progresses at 1/λ of its
// neutral speed, λ its dilation in that mix, as package contention predicts it. So
// the next completion of each node is known, and the nearest event of the cluster
// is either that of some node or the next arrival. Only the node where it happens
// is brought up to date. The paper's Algorithm 1, which is for one node, solves
// the network of the demands left instead; both are the same, because scaling one
// job's demands changes no queue where each job is one of a kind. (As printed it
// skips an arrival after each completion, and compares the time of an arrival with
// a duration.)
//
// # Order
//
// Of the events of one instant, completions come first, then jobs that wait, in
// the order of their arrival, then arrivals, in the order of their names: shorter
// names first, so that job 9 comes before job 10. Results do not depend on the
// order in which a trace lists the jobs of one instant.
//
// # Cost
//
// An event takes O(log n) time for n nodes and O(k) for k jobs on its node, plus the
// time of the policy. Each mix is predicted once. Memory grows with the jobs in the
// system, not with the trace.
package epochs
