// Package baselines tests that the policies of replays which claim to be
// kube-scheduler choose as its own code does, given the same nodes and pods.
package baselines
