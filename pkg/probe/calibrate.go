package probe

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"loadline.dev/loadline/pkg/model/probing/calibration"
	"loadline.dev/loadline/pkg/probe/result"
)

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
// to half their speed, in the steps of a [calibration.Search].
func Calibrate(ctx context.Context, o CalibrateOptions) (result.Calibration, error) {
	if o.MaxServers < 1 || o.MaxServers > MaxIntensity {
		return result.Calibration{}, fmt.Errorf("max-servers: %d is not from 1 to %d", o.MaxServers, MaxIntensity)
	}
	steps := calibration.Steps(o.MaxServers)
	each := o.Budget / time.Duration(steps)
	if each < MinCheck || o.Budget > MaxDuration {
		return result.Calibration{}, fmt.Errorf("budget: %v is not from %v, which %d servers may take to find, to %v",
			o.Budget, MinCheck*time.Duration(steps), o.MaxServers, MaxDuration)
	}
	boot, err := bootID()
	if err != nil {
		return result.Calibration{}, err
	}
	c := result.Calibration{Job: o.Job.Name, BootID: boot}
	err = o.Job.runCopies(ctx, 2, 1, func(copies ...*workers) error {
		tried := map[int]comparison{}
		search := calibration.NewSearch(o.MaxServers)
		for n, more := search.Next(); more; n, more = search.Next() {
			for _, c := range copies {
				if err := c.grow(n); err != nil {
					return err
				}
			}
			found, err := compareCopies(ctx, copies[0], copies[1], n, each)
			if err != nil {
				return fmt.Errorf("with %d workers: %w", n, err)
			}
			tried[n] = found
			c.Curve = append(c.Curve, result.Point{Intensity: n, Dilation: found.dilation})
			if err := search.Record(found.dilation); err != nil {
				return err
			}
		}
		servers, _ := search.Servers()
		at := tried[cmp.Or(servers, o.MaxServers)]
		c.Servers, c.UnitsPerSecond, c.Dilation, c.DilationError = servers, at.unitsPerSecond, at.dilation, at.err
		return nil
	})
	slices.SortFunc(c.Curve, func(a, b result.Point) int { return a.Intensity - b.Intensity })
	return c, err
}
