package gps

import "gonum.org/v1/gonum/stat/distuv"

// normalExcess returns E[(z − Z)⁺] = z·Φ(z) + φ(z) for a standard normal number Z, with an error of at most 1e-9. It is what most of the
// time of a closure goes to, so that it is interpolated.
func normalExcess(z float64) float64 {
	switch {
	case z <= -farOut:
		return 0
	case z >= farOut:
		return z
	}
	at := (z + farOut) * knotsPerOne
	i := int(at)
	x, from, to := at-float64(i), &normalKnots[i], &normalKnots[i+1]
	y := 1 - x
	return y*y*((1+2*x)*from.value+x*from.slope) + x*x*((1+2*y)*to.value-y*to.slope)
}

const (
	// farOut is beyond how many standard deviations there is nothing.
	farOut = 6
	// knotsPerOne is the number of knots in a standard deviation. The error of cubics between them is at most φ(0)/384 over its fourth power.
	knotsPerOne = 64
)

// knot is a point at which the excess is known, and by how much it grows to the next knot at its slope there, Φ.
type knot struct{ value, slope float64 }

var normalKnots = func() (knots [2*farOut*knotsPerOne + 1]knot) {
	for i := range knots {
		z := float64(i)/knotsPerOne - farOut
		below := distuv.UnitNormal.CDF(z)
		knots[i] = knot{z*below + distuv.UnitNormal.Prob(z), below / knotsPerOne}
	}
	return knots
}()
