// Package disruption says whether a pod may be evicted or resized in place, and what that costs, in words and in seconds of work.
//
// It holds what Kubernetes refuses (the Eviction API by PodDisruptionBudgets, the API server and the kubelet by the rules of the
// subresource pods/resize), what other tools are asked to leave alone (the annotations of the cluster autoscaler, Karpenter and the
// descheduler; VerticalPodAutoscalers), and what a careful operator would: pods that nothing makes anew, the only ready replica,
// critical pods, and pods that have just started stay where they are.
//
// It does not say where a pod may run ([loadline.dev/loadline/pkg/node.Feasibility] does), nor what a change wins.
//
// The package has no access to a cluster or a clock.
package disruption
