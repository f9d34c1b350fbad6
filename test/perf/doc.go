// Package perf measures what Loadline costs at scheduling time: upstream's
// scheduler benchmark, kube-scheduler's default profile against Loadline's, in
// pairs of processes.
//
//	go test -tags perf -run '^$' -bench . -timeout 48h ./test/perf
//	go test -tags perf -run '^$' -bench . ./test/perf -args -perf-quick
//	go test -tags perf -run '^$' -bench . -timeout 48h ./test/perf -args -perf-topics SchedulingBasic,volumes -perf-variants shipped
//	go test -tags perf -run '^$' -bench . -timeout 1h ./test/perf -args -perf-topics SchedulingBasic -perf-run shipped
//
// The first takes a minute or more for each run, and so a day or more on two
// cores; it needs a machine that does nothing else. The second shows that every
// topic works. The third takes some topics, or the topics of one of upstream's
// folders, and some variants. The fourth is a single run in the process itself.
// What is measured is printed, and merged by topic into out/perf/scheduling.json.
//
// # Topics
//
// The topics are the test cases of k8s.io/kubernetes/test/integration/scheduler_perf,
// read from the module's folder as they are, each with one workload: one of 5,000
// nodes or more where there is one. [Adaptation.Adapt] adds to them what measures, and a
// WorkloadProfile with an empty selector in each namespace with pods, so that no
// pod is scored by its requests. The scheduler has read it before the pods come.
// [NotRun] has the test cases that are not topics, and why.
//
// Three topics are ours. In ThreeKindsOfPods each pod follows one of three
// profiles. In OnePodPerNode each pod fits a node of its own, and PodTopologySpread
// has no default constraints, so that opportunistic batching places pods: the
// figures say how many. HostileTenant is ThreeKindsOfPods in a cluster that has
// another user, whose profiles declare all that a profile may: 250 pods on one
// node, another one for every fifth node, 50 profiles, and one more that all of
// these pods follow, which comes or goes every second. What it costs others is
// the difference between runs of one variant in the two topics.
//
// # Variants and pairs
//
// A pair is one run of each of the scheduler configurations in testdata, each in
// a process of its own, with an etcd and an API server of its own:
//
//	default    kube-scheduler's default plugins
//	added      those and Dilation: all that the plugin costs
//	shipped    Dilation in place of the scores by requests: what users get, with
//	           the guard and the hold on, so that each node is checked for bounds
//
// Every other pair runs in reverse, so that what drifts favours none of them. The
// machine decides how fast a run is: compare ratios within a pair, and nothing
// else. Tables have the median of the ratios, and the lowest and highest.
//
// No figure makes a run fail. A pod that was not scheduled, that was scored by its
// requests, or, in a topic of upstream, that a bound or a hold kept from a node does.
//
// # Processor time
//
// Scheduler, API server and etcd's client are one process; etcd is another one.
// The processor time of that process is exact, and most of it is the API server's.
// How it divides say samples on the processors' clocks, 250 a second: a sample is
// Loadline's if a function of its packages is on the stack, else the scheduler's
// if one of kube-scheduler's packages is; garbage collection, for whatever code
// allocated, is apart. The scheduler's time is the processor time by its share of samples,
// Loadline included. Its standard error from sampling is that of a binomial
// share, see [RelativeError], and is printed with each run and each table: some
// percent of one ratio where there are some thousand samples.
//
// Each run leaves its profile, and its log, in out/perf/runs, so that
//
//	go tool pprof -diff_base out/perf/runs/SchedulingBasic-1-default.pprof out/perf/runs/SchedulingBasic-1-shipped.pprof
//
// shows where a difference comes from.
//
// The files behind the build tag hold the benchmark; the rest, without it, adapts
// test cases, splits profiles, and turns the figures into tables and JSON.
package perf
