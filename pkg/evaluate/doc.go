// Package evaluate turns manifests into their answers: what a controller writes
// to status and what the command line prints, one pure function per kind, so
// that the two cannot disagree. It has no access to a cluster, a clock or a
// file: all that a decision depends on is in its arguments.
package evaluate
