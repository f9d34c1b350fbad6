// Package cli holds the verbs of kubectl loadline, one file each. A verb reads
// manifests and data files, asks package evaluate, and prints the answer as a
// table, JSON or YAML; it decides nothing itself and needs no cluster.
//
// Exit codes: 0 done, 2 wrong use or bad input.
package cli
