package slaorder

import (
	"time"

	fwk "k8s.io/kube-scheduler/framework"
)

// rounds divides the time from a beginning into rounds of one length, more than 0.
type rounds struct {
	begin  time.Time
	length time.Duration
}

// turn is what decides between pods of one priority, or groups of pods, before their classes do. It stays
// the same while a pod is in a queue.
type turn struct {
	round   int64
	overdue bool          // the pod had waited a round's length by its last attempt
	queued  time.Duration // from the beginning until the pod was first queued
}

// turnOf returns the turn of a pod in a queue, or of a group of pods.
func (r rounds) turnOf(info fwk.QueuedEntityInfo) turn {
	tried := info.GetTimestamp().Sub(r.begin) // last, or queued if never
	queued := tried
	if first := info.GetInitialAttemptTimestamp(); first != nil {
		queued = first.Sub(r.begin)
	}
	if due := queued + r.length; due <= tried {
		return turn{round: int64(due / r.length), overdue: true, queued: queued}
	}
	// A pod that was gated has its timestamp from before.
	return turn{round: int64(max(tried, queued) / r.length), queued: queued}
}
