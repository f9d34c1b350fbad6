// Package admission says whether the API server would refuse that a pod is resized, because of the LimitRanges and ResourceQuotas of its
// namespace, and in its words why. It runs the API server's own code, of the version that is in go.mod: the plugin LimitRanger's rules
// for the subresource pods/resize, and the check of the plugin ResourceQuota with the evaluator of pods. It imitates neither.
//
// [Rules.With] has the answers after a resize: what the pod uses of quotas by then counts as the quota controller will count it, more or
// less than before.
//
// It does not know what the configuration of an API server limits beyond these objects (limitedResources), and does not say whether a
// resize is possible otherwise: package disruption does.
//
// The package has no access to a cluster or a clock.
package admission
