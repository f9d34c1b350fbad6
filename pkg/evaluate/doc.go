// Package evaluate turns manifests into their answers: what a controller writes
// to status and what the command line prints, one pure function per kind, so
// that the two cannot disagree. It has no access to a cluster, a clock or a
// file: all that a decision depends on is in its arguments.
//
// Here are the answers about profiles: whether they are in use and what follows
// them, what they predict for pods that share a node, and what a fit learns; and
// what all answers have in common. Answers about other kinds, and about what runs in
// a cluster, are in packages of their own below: pools, replays and shares,
// explanation of the place of a pod, and installation of Loadline itself.
package evaluate
