// Package perf measures what Loadline costs at scheduling time: upstream's
// scheduler benchmark, kube-scheduler's default profile against Loadline's,
// back to back in one process.
//
//	go test -tags perf -bench . -timeout 60m ./test/perf
//	go test -tags perf -bench . ./test/perf -args -perf-quick
//	go test -tags perf -bench . ./test/perf -args -perf-topics SchedulingBasic,Unschedulable
//	go test -tags perf -bench Scheduling/SchedulingBasic/pair-1/shipped -cpuprofile cpu.prof ./test/perf
//
// The first takes an hour or two and leaves its figures in
// out/perf/scheduling.json, the second shows that it works, the third takes some
// of the topics, the fourth says where the time goes.
//
// The topics are workloads of k8s.io/kubernetes/test/integration/scheduler_perf,
// see [Topics]: nodes are created, then a first lot of pods, then the pods whose
// scheduling is measured, while others come that fit no node. Two things are
// added to them. Every pod carries a label, and a WorkloadProfile selects it:
// none is scored by its requests. And opportunistic batching is on, as it is in
// production, so that the signing of pods counts. It batches no pod while
// PodTopologySpread has its default constraints. In the topic OnePodPerNode it has
// none, and each pod fits a node of its own: there the figures say how many of the
// pods were batched.
//
// HostileTenant is SchedulingBasic in a cluster that has another user, whose
// profiles declare all that a profile may: 250 pods on one node, another one for every
// fifth node, 50 profiles, and one more that all of these pods follow, which comes or
// goes every second. What it costs others is the difference between runs of one
// variant in the two topics.
//
// A pair is one run of each of three scheduler configurations in testdata, each
// with an etcd and an API server of its own:
//
//	default    kube-scheduler's default plugins
//	added      those and Dilation: all that the plugin costs
//	shipped    Dilation in place of the scores by requests: what users get, and
//	           the guard on, so that each node is checked for bounds as well
//
// Every other pair runs in reverse, so that what drifts in a long run does not
// favour one of them: the later runs of a process collect the garbage of the
// earlier ones, too. The fourth command above gives a run a process of its own, and
// prints its figures. The machine decides how fast a run is: compare ratios
// within a pair, and nothing else. No figure makes a run fail; a pod that was
// not scheduled, or not scored by its profile, does.
//
// The files behind the build tag hold the benchmark; the rest, without it, turns
// the figures into a table and JSON.
package perf
