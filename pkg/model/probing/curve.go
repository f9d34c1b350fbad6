package probing

import (
	"errors"
	"fmt"
	"sort"

	"loadline.dev/loadline/pkg/model/queueing"
)

// ErrUnexplained is wrapped by the error for a dilation that no loading from 0 to 1
// explains, by more than noise.
var ErrUnexplained = errors.New("no loading from 0 to 1 explains the dilation")

// ErrAmbiguous is wrapped by the error for a dilation that does not determine the loading, because
// other loadings explain it as well.
var ErrAmbiguous = errors.New("the dilation does not tell the loading")

const (
	// curveSteps is how many points of a curve are computed to see that it grows.
	curveSteps = 16
	// halvings of one step give a loading to 10⁻⁸.
	halvings = 22
	// minRise is the least growth of a dilation over all loadings with which they can be
	// distinguished. No measurement resolves less.
	minRise = 1e-4
)

// curve is a growing function from the loading of a target to a dilation. Beyond the
// loadings that it is known for it goes on as a straight line, so that noise of
// dilations near the ends averages out.
type curve struct {
	loadings, dilations []float64
	// dilation returns the value at a loading in between; nil: it is a straight line.
	dilation func(loading float64) (float64, error)
}

// straight returns the line through (0, 1) with a slope.
func straight(slope float64) *curve {
	return &curve{loadings: []float64{0, 1}, dilations: []float64{1, 1 + slope}}
}

// newCurve returns the function from 0 to the largest loading. The error wraps
// [ErrAmbiguous] if it does not grow.
func newCurve(largest float64, dilation func(float64) (float64, error)) (*curve, error) {
	c := &curve{dilation: dilation}
	for k := range curveSteps + 1 {
		x := largest * float64(k) / curveSteps
		y, err := dilation(x)
		if err != nil {
			return nil, err
		}
		if k > 0 {
			before := c.dilations[k-1]
			if y < before-queueing.DefaultTolerance {
				return nil, fmt.Errorf("a loading of %.3g dilates less (%.5g) than one of %.3g (%.5g): %w", x, y, c.loadings[k-1], before, ErrAmbiguous)
			}
			y = max(y, before)
		}
		c.loadings, c.dilations = append(c.loadings, x), append(c.dilations, y)
	}
	if first, last := c.dilations[0], c.dilations[curveSteps]; last-first < minRise {
		return nil, fmt.Errorf("the dilation is %.6g whatever the loading: %w", first, ErrAmbiguous)
	}
	return c, nil
}

// highest returns the dilation at the largest loading.
func (c *curve) highest() float64 { return c.dilations[len(c.dilations)-1] }

// slope returns that of the segment before a point, at least a tenth of the average:
// on a flat end noise would be taken for any loading whatever.
func (c *curve) slope(point int) float64 {
	return max(c.average()/10, (c.dilations[point]-c.dilations[point-1])/(c.loadings[point]-c.loadings[point-1]))
}

// average returns the slope from end to end.
func (c *curve) average() float64 {
	last := len(c.loadings) - 1
	return (c.dilations[last] - c.dilations[0]) / c.loadings[last]
}

// tells reports whether the curve rises enough near a dilation to determine its loading: by more
// than a tenth of its average rise.
func (c *curve) tells(dilation float64) bool {
	point := max(1, min(len(c.dilations)-1, sort.SearchFloat64s(c.dilations, dilation)))
	return c.slope(point) > c.average()/10
}

// loading returns the loading that leads to a dilation.
func (c *curve) loading(dilation float64) (float64, error) {
	last := len(c.dilations) - 1
	k := sort.SearchFloat64s(c.dilations, dilation)
	switch {
	case k > last:
		return c.loadings[last] + (dilation-c.dilations[last])/c.slope(last), nil
	case k == 0 || c.dilation == nil:
		return (dilation - c.dilations[0]) / c.slope(1), nil
	}
	low, high := c.loadings[k-1], c.loadings[k]
	for range halvings {
		middle := (low + high) / 2
		y, err := c.dilation(middle)
		if err != nil {
			return 0, err
		}
		if y < dilation {
			low = middle
		} else {
			high = middle
		}
	}
	return (low + high) / 2, nil
}
