package cgroup

import corev1 "k8s.io/api/core/v1"

// Limit returns how much CPU a pod may use, in thousandths, 0 without a limit: that of the pod as a whole, or those of its
// containers together, if all have one.
func Limit(pod *corev1.Pod) (milliCPU int64) { return limitOf(InEffect(pod)) }

// Quota returns what the kubelet makes of a limit above 0, in thousandths of a CPU: at least 10, 1 ms per 100 ms.
func Quota(milliCPU int64) int64 { return max(milliCPU, minLimit) }
