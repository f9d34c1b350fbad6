package poolplan

import (
	"fmt"
	"math"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/pools"
)

// move is the action on one pool.
type move struct {
	pool    string
	servers int // that it needs
	bounds  pools.Bounds
	// from and to are how many replicas it has and is to have.
	from, to int32
	// reason and message are those of the condition Applied, as far as this pool
	// is concerned.
	reason, message string
}

// scales reports whether the move changes anything.
func (m *move) scales() bool { return m.to != m.from }

// stay leaves the pool unchanged.
func (m *move) stay(reason, format string, arguments ...any) {
	m.to = m.from
	m.reason, m.message = reason, fmt.Sprintf(format, arguments...)
}

// fail leaves the pool unchanged because of a problem.
func (m *move) fail(p *problem) { m.stay(p.reason, "%s", p.message) }

// rules say how fast pools are scaled.
type rules struct {
	stabilization time.Duration
	betweenSteps  time.Duration
	maxStep       int // servers; 0 leaves it to the pool's size
}

func newRules(spec *v1alpha1.PoolScaling) rules {
	if spec == nil {
		spec = &v1alpha1.PoolScaling{}
	}
	r := rules{
		stabilization: seconds(spec.StabilizationSeconds, defaultStabilization),
		betweenSteps:  seconds(spec.MinSecondsBetweenSteps, defaultBetweenSteps),
	}
	if spec.MaxStepServers != nil {
		r.maxStep = int(*spec.MaxStepServers)
	}
	return r
}

// next decides where a pool goes from m.from, and records in its status the inputs of later
// decisions. Held says why it must not be scaled down, "" if it may be. Again is the time after
// which something may change without an event, 0 for never.
func (r rules) next(m *move, status *v1alpha1.PoolStatus, now time.Time, held string) (again time.Duration) {
	notAhead(status, now)
	want, keep := int32(m.bounds.Replicas), int32(max(m.bounds.Replicas, m.bounds.ReplicasToKeep))
	if m.from < want || m.from <= keep || held != "" {
		status.FewerSince, status.FewerReplicas = nil, nil
	}
	switch {
	case m.from < want:
		return r.up(m, status, want, now)
	case m.from <= keep:
		m.stay(m.arrived(), "%s", m.target())
		return 0
	case held != "":
		m.stay(v1alpha1.ReasonWaitingToScaleDown, "%s, and keeps %d: %s", m.target(), m.from, held)
		return 0
	default:
		return r.down(m, status, keep, now)
	}
}

// notAhead has waits begin now that would begin later: they were written by a clock that was ahead, that of another manager or
// this one's before it was set back, and a pool must not wait for as long as it was.
func notAhead(status *v1alpha1.PoolStatus, now time.Time) {
	for _, t := range []**metav1.MicroTime{&status.LastScaleTime, &status.FewerSince} {
		if *t != nil && (*t).After(now) {
			*t = new(metav1.NewMicroTime(now))
		}
	}
}

// up takes a step up, if one may be taken now.
func (r rules) up(m *move, status *v1alpha1.PoolStatus, want int32, now time.Time) (again time.Duration) {
	if wait := r.wait(status, now); wait > 0 {
		m.stay(v1alpha1.ReasonStepping, "%s; on the way: %d of %d, scaled less than %v ago", m.target(), m.from, want, r.betweenSteps)
		return wait
	}
	m.to = min(want, m.from+r.step(m, max(m.from, leastStep)))
	m.reason, m.message = v1alpha1.ReasonScaled, fmt.Sprintf("scaled from %d to %d replicas: %s", m.from, m.to, m.target())
	if m.to < want {
		m.reason = v1alpha1.ReasonStepping
		m.message += fmt.Sprintf("; on the way: %d of %d", m.to, want)
		return r.betweenSteps
	}
	if m.bounds.Limited {
		m.reason = v1alpha1.ReasonLimited
	}
	return 0
}

// down takes a step down, if fewer servers have been enough for long.
func (r rules) down(m *move, status *v1alpha1.PoolStatus, keep int32, now time.Time) (again time.Duration) {
	if status.FewerSince == nil {
		status.FewerSince, status.FewerReplicas = new(metav1.NewMicroTime(now)), new(keep)
	}
	goal := max(keep, *status.FewerReplicas)
	status.FewerReplicas = new(goal)
	wait := max(status.FewerSince.Add(r.stabilization).Sub(now), r.wait(status, now))
	if wait > 0 {
		m.stay(v1alpha1.ReasonWaitingToScaleDown, "%s; goes from %d to %d when that has been enough for %v", m.target(), m.from, goal, r.stabilization)
		return wait
	}
	if goal >= m.from { // it was needed meanwhile; see from now on
		status.FewerSince, status.FewerReplicas = new(metav1.NewMicroTime(now)), new(keep)
		m.stay(v1alpha1.ReasonWaitingToScaleDown, "%s; goes from %d to %d when that has been enough for %v", m.target(), m.from, keep, r.stabilization)
		return r.stabilization
	}
	m.to = max(goal, m.from-r.step(m, max(m.from/2, 1)))
	m.reason, m.message = v1alpha1.ReasonScaled, fmt.Sprintf("scaled from %d to %d replicas: %s", m.from, m.to, m.target())
	if m.to > goal {
		m.reason = v1alpha1.ReasonWaitingToScaleDown
		return r.betweenSteps
	}
	status.FewerSince, status.FewerReplicas = nil, nil
	return 0
}

// wait returns how long a pool must be left alone.
func (r rules) wait(status *v1alpha1.PoolStatus, now time.Time) time.Duration {
	if status.LastScaleTime == nil {
		return 0
	}
	return status.LastScaleTime.Add(r.betweenSteps).Sub(now)
}

// leastStep is by how many replicas a pool may be scaled up at once, however few it has.
const leastStep = 4

// step returns the most replicas by which a pool is scaled at once: as the plan says, or
// otherwise.
func (r rules) step(m *move, otherwise int32) int32 {
	if r.maxStep == 0 {
		return otherwise
	}
	each := max(m.bounds.Servers/max(m.bounds.Replicas, 1), 1)
	return int32(min((r.maxStep-1)/each+1, math.MaxInt32/2))
}

// arrived is the reason for a pool that is not scaled.
func (m *move) arrived() string {
	if m.bounds.Limited {
		return v1alpha1.ReasonLimited
	}
	return v1alpha1.ReasonAtTarget
}

// target describes the need of the pool.
func (m *move) target() string {
	if m.bounds.Limited {
		return fmt.Sprintf("it needs %d servers and may have %d, %d replicas", m.servers, m.bounds.Servers, m.bounds.Replicas)
	}
	return fmt.Sprintf("it needs %d servers, %d replicas", m.servers, m.bounds.Replicas)
}
