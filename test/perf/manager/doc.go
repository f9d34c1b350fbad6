// Package manager measures how fast loadline-manager brings the status of many
// WorkloadProfiles up to date, and what that costs it and the API server.
//
//	go test -tags perf -run '^$' -bench . -timeout 60m ./test/perf/manager
//	go test -tags perf -run '^$' -bench Profiles/declared ./test/perf/manager -args -perf-profiles 20000
//
// Each sub-benchmark has a control plane of its own, with an etcd that does not
// wait for the disk, and three phases:
//
//	present    the profiles are there when the manager starts
//	created    they are created, by 16 clients at once, while it runs
//	changed    all is quiet, and the spec of one profile changes
//
// A phase begins with the first request, or with the start of the manager, and
// ends when every profile is Ready. The table shows profiles per second, the
// processor time of the manager and of the API server, the manager's requests and
// conflicts, all per profile, and its memory at the end. It reads metrics before and
// after, which is a part of what one change seems to cost.
// The kinds of profiles:
//
//	declared    each declares a vector, in one namespace
//	spread      the same in 100 namespaces
//	measured    each declares a vector and asks for a measurement, for which there
//	            is no node
//	shared      each is in the same ShareTree
//
// API server, etcd, manager and benchmark share one machine. Compare runs on the
// same machine, and compare processor times and requests rather than rates where
// other programs run beside it. No figure makes a run fail.
package manager
