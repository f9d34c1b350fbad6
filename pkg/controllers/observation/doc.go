// Package observation is the controller that shows in the status of WorkloadProfiles the gauges' observations of their pods,
// the accuracy of the predicted dilations, and whether the vector in use is still true: the condition Drifted.
//
// It [collects] from all gauges every thirty seconds, keeps a short history in memory (package observations of evaluate), and
// writes noticeable changes beside that: of each profile once a minute at most, and of all 20 a second, those of what was written the
// longest ago first. Of several managers only the leader does. Without gauges in the cluster it does nothing, and reads no pods but
// theirs. It never changes which vector is in use.
//
// [collects]: https://pkg.go.dev/loadline.dev/loadline/pkg/gauge/collect
package observation
