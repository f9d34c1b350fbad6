// Package observation is the controller that shows in the status of WorkloadProfiles what gauges observed of their pods, how
// well their dilations were predicted, and whether the vector in use is still true: the condition Drifted.
//
// It [collects] from all gauges every thirty seconds, keeps a short history in memory (package observations of evaluate), and
// writes at most once a minute what has changed noticeably. Of several managers only the one that leads does. Without
// gauges in the cluster it does nothing, and reads no pods but theirs. It never changes which vector is in use.
//
// [collects]: https://pkg.go.dev/loadline.dev/loadline/pkg/gauge/collect
package observation
