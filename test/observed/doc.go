// Package observed holds what gauges and findings say against what pods say of themselves: processes in control groups as
// the kubelet makes them, on the kernel of this machine, with weights and limits, which count what they run and when;
// and what findings say of causes, against what the kernel is observed to run meanwhile. Its
// tests are experiments: they take root and minutes, and most a machine with nothing else to do, so they are skipped unless a
// flag asks for them. One that is asked for reports what it finds, and fails if it misses its bound.
//
//	go test ./test/observed -run SayTheSame -v -args -mixes 10 -mix-seconds 20
//	go test ./test/observed -run TheCulprit -v -args -culprits 40
//	go test ./test/observed -run OwnLimit -v -args -limits 10
//	go test ./test/observed -run Quiet -v -args -quiets 4 -interval 1s -quiet-intervals 60
//	go test ./test/observed -run Remedies -v -args -remedies 10
//	go test ./test/observed -run Meanwhile -v -args -causes 16
//	go test ./test/observed -run EndsTheThrottling -v -timeout 1h -args -bursty 25 -interval 4s -bursty-seconds 15
//
// The flags of the experiments, each with the number of runs and the bound:
//
//   - -mixes: two to eight pods of any kind on two processors, and what each says of itself. Dilations must be right to 2 % on
//     average, also those of pods that have short-lived children alone; without these to 6 % at worst, and CPU loadings to 0.03.
//     A run takes -mix-seconds and about two seconds more.
//
//   - -culprits: a pod that one of three to six neighbours slows down. That one must be the first cause in 95 % of the findings.
//
//   - -limits: a pod that its own limit slows down. The limit must be the first cause in all findings.
//
//   - -quiets: six pods that do little. After each interval they are judged; at most 2 % of these judgements may be findings.
//
//   - -remedies: findings of which the proposed request or limit is carried out, in up to three times as many runs. What it
//     wins must be what was predicted, to 20 % in the median.
//
//   - -causes: three to six pods without limits on -causes-cpus processors, by default one, and what ran while each waited, by
//     package runqueue: this takes eBPF, and no quiet machine. On one processor at most 8 % of the blame among neighbours may fall on the
//     wrong ones in findings, and in 90 % of them the right one must come first, or one whose share is within 0.05 of it. On several
//     there is no bound: a gauge does not see which pods share a processor.
//
//   - -bursty: a pod of one to four threads that its limit throttles in bursts of 5 to 200 ms, random ones, constant ones at random
//     times and, one in five, constant ones at regular times; half of the pods may save what they do not use. The limit that is
//     proposed is set. With it the pod may be throttled for at most 1 % of its run time, and the limit may be at most 1.5 times the
//     smallest one of which that is so on the simulated kernel of package linuxsched, which is compared with this kernel at the limit
//     that the pod has at first. For regular bursts there is no bound on the limit: where in a period they are is chance.
//
// And how they run:
//
//   - -mix-seconds: the length of a mix, by default 10.
//   - -interval: the length of an interval of all but mixes, by default 8s. A run has two, and takes two seconds more; with -remedies,
//     twice that.
//   - -bursty-seconds: for how long a pod of -bursty is observed with the proposed limit, by default 30; before, it is for six intervals.
//   - -quiet-intervals: the number of intervals of a run of -quiets, by default 2. A pod is judged once it has been observed for 15
//     seconds.
//   - -mix-seed: the seed of all experiments, by default 1.
package observed
