package probe

import (
	"cmp"
	"context"
	"fmt"
	"math/bits"
	"slices"
	"time"

	"loadline.dev/loadline/pkg/probe/report"
)

// saturated is the dilation from which on two copies count as saturating a resource: 2
// less 5 %.
const saturated = 1.9

// CalibrateOptions say how to calibrate a resource.
type CalibrateOptions struct {
	Job Job
	// MaxServers is the highest intensity to try, from 1 to [MaxIntensity].
	MaxServers int
	// Budget is how long it may take, less the making of files: at least [MinCheck] for
	// each intensity that it may have to try (2 log₂ MaxServers), at most [MaxDuration].
	Budget time.Duration
}

// Calibrate finds the least intensity at which two copies of a job slow each other down
// to half their speed. Intensities are doubled until one does, and the gap before it is
// halved: two copies dilate each other the more, the more workers each has.
func Calibrate(ctx context.Context, o CalibrateOptions) (report.Calibration, error) {
	if o.MaxServers < 1 || o.MaxServers > MaxIntensity {
		return report.Calibration{}, fmt.Errorf("max-servers: %d is not from 1 to %d", o.MaxServers, MaxIntensity)
	}
	each := o.Budget / time.Duration(mostSteps(o.MaxServers))
	if each < MinCheck || o.Budget > MaxDuration {
		return report.Calibration{}, fmt.Errorf("budget: %v is not from %v, which %d servers may take to find, to %v",
			o.Budget, MinCheck*time.Duration(mostSteps(o.MaxServers)), o.MaxServers, MaxDuration)
	}
	boot, err := bootID()
	if err != nil {
		return report.Calibration{}, err
	}
	c := report.Calibration{Job: o.Job.Name, BootID: boot}
	err = o.Job.with(ctx, 2, 1, func(crews ...*crew) error {
		tried := map[int]comparison{}
		servers, err := leastSaturated(o.MaxServers, func(n int) (bool, error) {
			for _, c := range crews {
				if err := c.grow(n); err != nil {
					return false, err
				}
			}
			found, err := compareCopies(ctx, crews[0], crews[1], n, each)
			if err != nil {
				return false, fmt.Errorf("with %d workers: %w", n, err)
			}
			tried[n] = found
			c.Curve = append(c.Curve, report.Point{Intensity: n, Dilation: found.dilation})
			return found.dilation >= saturated, nil
		})
		if err != nil {
			return err
		}
		at := tried[cmp.Or(servers, o.MaxServers)]
		c.Servers, c.UnitsPerSecond, c.Dilation, c.DilationError = servers, at.unitsPerSecond, at.dilation, at.err
		return nil
	})
	slices.SortFunc(c.Curve, func(a, b report.Point) int { return a.Intensity - b.Intensity })
	return c, err
}

// mostSteps is how many intensities leastSaturated looks at, at most.
func mostSteps(most int) int { return 2 * bits.Len(uint(most)) }

// leastSaturated returns the least intensity that saturates, 0 if none up to the most
// does.
func leastSaturated(most int, saturates func(n int) (bool, error)) (int, error) {
	below, n := 0, 1
	for {
		yes, err := saturates(n)
		if err != nil {
			return 0, err
		}
		if yes {
			break
		}
		if n == most {
			return 0, nil
		}
		below, n = n, min(2*n, most)
	}
	for n-below > 1 {
		middle := (below + n) / 2
		yes, err := saturates(middle)
		if err != nil {
			return 0, err
		}
		if yes {
			n = middle
		} else {
			below = middle
		}
	}
	return n, nil
}
