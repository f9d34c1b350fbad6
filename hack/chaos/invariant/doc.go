// Package invariant holds what must be so whatever fails around Loadline. A [Rule] sees every change of the objects of a cluster, in
// the order in which the API server made them, and every request of Loadline's programs that the API server answered, and says at
// once what broke it. A [Settled] judges the objects as they are once nothing has failed for a while. All are pure: they have no
// access to a cluster or a clock.
package invariant
