// Package cli holds the verbs of kubectl loadline, one file each. A verb reads
// manifests and data files, asks package evaluate, and prints the answer as a
// table, JSON or YAML; it decides nothing itself, and only record and
// share --node need a cluster.
//
// Exit codes: 0 done; 1 the answer is no, such as an SLA that cannot be met; 2 wrong
// use or bad input; 3 reading or writing failed, and may not fail again; 130
// interrupted.
package cli
