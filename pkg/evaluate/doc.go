// Package evaluate is where manifests become answers: what a controller writes
// to status and what the command line prints, one package per answer, of pure functions, so
// that the two cannot disagree. They have no access to a cluster, a clock or a
// file: all that a decision depends on is in its arguments. This package itself has nothing but its packages:
//
//   - profiles: are WorkloadProfiles and NodeProfiles in use, and what follows them?
//   - prediction: how much do the pods of a node slow each other down?
//   - fits: which loading vectors follow from measured co-locations?
//   - pools: how many servers meet the SLAs of a PoolPlan?
//   - replays: how long would the jobs of a TraceReplay take?
//   - shares: which response times do the shares of a ShareTree, or of a node, come with?
//   - explanation: why is a pod where it is, and how does it fare there?
//   - findings: which pods are slowed down now, by what, and what helps?
//   - plan: which changes help all slowed pods together?
//   - disruption: may a pod be evicted or resized, and what does that cost?
//   - kubectl: which commands carry out a change of a pod?
//   - observations: does a profile still say what its pods are like?
//   - installation: how well does Loadline work in a cluster?
//   - remediations: which policy does a pod belong to, may its change be started, and what has a policy come to?
//   - savings: how much do the pods of a cluster slow each other down, and how much of that would be saved?
//
// The packages manifest, observed, workloads and condition hold what several of them need.
package evaluate
