package probe

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"loadline.dev/loadline/pkg/probe/result"
)

// ErrPlatform is the error of measuring where it cannot be done.
var ErrPlatform = errors.New("measuring needs Linux on amd64 or arm64")

const (
	// MaxIntensity is how many workers a job has at most.
	MaxIntensity = 256
	// MinSize is the least number of bytes of a job's file or memory.
	MinSize = 16 << 20
	// MaxSize is the most.
	MaxSize = 1 << 30
)

// Job says which standard job to run, and where.
type Job struct {
	// Name is one of [result.Jobs].
	Name string
	// Size is how many bytes the file of a disk job has (256 MiB if 0) or the memory of
	// a job of memory (512 MiB if 0: for copies a source and a target, each well beyond
	// most last-level caches) or of the last-level cache (half of that cache if 0). From
	// [MinSize], or 2 MiB for the last-level cache, to [MaxSize]. Two copies of a job have one each.
	Size int64
	// Pressure is, of a job at an interference resource, how large a fraction of its time
	// each worker presses there, from above 0 to 1; it computes in registers for the rest.
	// 0 is all of the time.
	Pressure float64
	// Dir is where a disk job has its file; the working directory if it is empty.
	Dir string
	// Peer is the address of the sink of the network job, as host:port.
	Peer string
}

// A unit does one unit of work. It is called by one thread at a time.
type unit func() error

// crew is one copy of a job: its workers, and what they share.
type crew struct {
	units  []unit
	hire   func() (unit, error)
	unmake []func() error
	// waits tells that the resource is another than the processor, so that workers wait
	// for it; what they compute meanwhile is no part of it.
	waits bool
	// pressure is that of the workers, see [Job]; it may change while they do not work.
	pressure float64
}

// grow makes a crew one of at least n workers.
func (c *crew) grow(n int) error {
	for len(c.units) < n {
		u, err := c.hire()
		if err != nil {
			return err
		}
		c.units = append(c.units, u)
	}
	return nil
}

// disband gives back all that the crew holds.
func (c *crew) disband() error {
	var errs []error
	for _, unmake := range slices.Backward(c.unmake) {
		errs = append(errs, unmake())
	}
	c.unmake, c.units = nil, nil
	return errors.Join(errs...)
}

// with runs f with a number of copies of the job, each of n workers.
func (j Job) with(ctx context.Context, copies, n int, f func(...*crew) error) (err error) {
	if n < 1 || n > MaxIntensity {
		return fmt.Errorf("intensity: %d is not from 1 to %d", n, MaxIntensity)
	}
	crews := make([]*crew, copies)
	defer func() {
		for _, c := range crews {
			if c != nil {
				err = errors.Join(err, c.disband())
			}
		}
	}()
	for i := range crews {
		if crews[i], err = j.crew(ctx); err != nil {
			return fmt.Errorf("%s: %w", j.Name, err)
		}
		if err = crews[i].grow(n); err != nil {
			return fmt.Errorf("%s: %w", j.Name, err)
		}
	}
	return f(crews...)
}

// crew returns one copy of the job, with no workers yet.
func (j Job) crew(ctx context.Context) (*crew, error) {
	least := int64(MinSize)
	if j.Name == result.LLC {
		least = leastCache
	}
	if j.Size != 0 && (j.Size < least || j.Size > MaxSize) {
		return nil, fmt.Errorf("size: %d bytes are not from %d MiB to %d MiB", j.Size, least>>20, MaxSize>>20)
	}
	if err := j.checkPressure(); err != nil {
		return nil, err
	}
	switch j.Name {
	case result.CPU:
		return cpuCrew(), nil
	case result.DiskRead, result.DiskWrite:
		return diskCrew(j)
	case result.Network:
		return networkCrew(ctx, j)
	case result.MemoryBandwidth, result.MemoryRead, result.MemoryWrite:
		return memoryCrew(j)
	case result.LLC:
		return cacheCrew(j)
	case result.Core:
		return coreCrew(j), nil
	default:
		return nil, fmt.Errorf("there is no such standard job; they are %s", strings.Join(result.Jobs(), ", "))
	}
}
