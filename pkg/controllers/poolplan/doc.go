// Package poolplan is the controller that answers PoolPlans and, in the mode
// apply, scales their pools.
//
// It works in three steps. Gathering reads the profiles, asks Prometheus, and
// looks at the scale targets; a pure function decides on a plan; acting scales
// and writes the status. What a later decision depends on, the last readings,
// when a pool was scaled last and since when it needs fewer servers, is in the
// status, so that a controller that is killed goes on where it was.
//
// A pool is scaled up as soon as it needs to be, and down only when for a while
// fewer servers have been enough for somewhat more arrivals than there are. It is
// not scaled at all while an input is missing, stale or nonsense, or another
// client scales the same target, and not down while Prometheus does not answer.
package poolplan
