// Package cli is kubectl loadline: its root, the completion of its flags, and its verbs.
// A verb reads manifests and data files, or a cluster, asks package evaluate, and prints
// the answer as a table, JSON or YAML; it decides nothing itself. Only status, explain,
// record, version, share --node and check --with-cluster ask a cluster; explain, share
// and check take files, too.
//
// A verb of one file is here: fit, predict, version. The others have packages of their own, which
// import none of each other except shared ones: verb (streams, flags, output, exit codes), input
// (files), access (to a cluster) and deployed (Loadline's parts in the cluster).
//
// Exit codes: 0 done; 1 the answer is no, such as an SLA that cannot be met; 2 wrong
// use or bad input; 3 reading, writing or reaching the cluster failed, and may not fail
// again; 130 interrupted.
//
// Standard output has the answer and nothing else; remarks, warnings and progress go to
// the error stream, progress and colors to terminals only.
package cli
