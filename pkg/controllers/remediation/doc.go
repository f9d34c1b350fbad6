// Package remediation carries out Remediations, one change of a pod each: it decides when
// one is started, resizes or evicts the pod, waits until the change is in effect, has it
// judged after a while, and undoes what does not win. Another controller of the package
// keeps the status of RemediationPolicies and deletes old Remediations.
//
// A change goes through these steps. Each is the reason of the condition Complete until the
// next one begins, and is stored before anything is done in it:
//
//	AwaitingApproval, Queued, Suspended, NotAllowed, Advising   not started
//	Resizing                          the pod is resized, and the kubelet has not followed
//	Evicting, Replacing               the pod is evicted, and the one in its place awaited
//	Observing                         the change is made, and is judged after a while
//	RollingBack                       the resize is undone
//
// Nothing else is remembered: the manager may end after any write. Whether a pod was resized
// or evicted already is seen by its requests and limits, and by whether it is there. These
// are read past the cache.
//
// What a change has won, a [Judge] says. Whether it may be made at all, apart from what its
// policy says, a [Permission] does.
package remediation
