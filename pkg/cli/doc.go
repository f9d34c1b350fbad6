// Package cli holds the verbs of kubectl loadline, one file each. A verb reads
// manifests and data files, or a cluster, asks package evaluate, and prints the answer
// as a table, JSON or YAML; it decides nothing itself. Only status, explain, record,
// version, share --node and check --with-cluster ask a cluster; explain, share and check
// take files, too.
//
// Exit codes: 0 done; 1 the answer is no, such as an SLA that cannot be met; 2 wrong
// use or bad input; 3 reading, writing or reaching the cluster failed, and may not fail
// again; 130 interrupted.
//
// Standard output has the answer and nothing else; remarks, warnings and progress go to
// the error stream, progress and colors to terminals only.
package cli
