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

// described returns what the table of standard jobs says of the job.
func (j Job) described() result.StandardJob {
	job, _ := result.FindJob(j.Name)
	return job
}

// A unit does one unit of work. It is called by one thread at a time.
type unit func() error

// workers are those of one copy of a job, with what they share.
type workers struct {
	units   []unit
	newUnit func() (unit, error)
	closers []func() error
	// waits is that of [result.StandardJob].
	waits bool
	// pressure is that of the workers, see [Job]; it may change while they do not work.
	pressure float64
}

// grow adds workers until there are n.
func (c *workers) grow(n int) error {
	for len(c.units) < n {
		u, err := c.newUnit()
		if err != nil {
			return err
		}
		c.units = append(c.units, u)
	}
	return nil
}

// close gives back all that the workers hold.
func (c *workers) close() error {
	var errs []error
	for _, release := range slices.Backward(c.closers) {
		errs = append(errs, release())
	}
	c.closers, c.units = nil, nil
	return errors.Join(errs...)
}

// runCopies runs f with a number of copies of the job, each of n workers.
func (j Job) runCopies(ctx context.Context, number, n int, f func(...*workers) error) (err error) {
	if n < 1 || n > MaxIntensity {
		return fmt.Errorf("intensity: %d is not from 1 to %d", n, MaxIntensity)
	}
	copies := make([]*workers, number)
	defer func() {
		for _, c := range copies {
			if c != nil {
				err = errors.Join(err, c.close())
			}
		}
	}()
	for i := range copies {
		if copies[i], err = j.newCopy(ctx); err != nil {
			return fmt.Errorf("%s: %w", j.Name, err)
		}
		if err = copies[i].grow(n); err != nil {
			return fmt.Errorf("%s: %w", j.Name, err)
		}
	}
	return f(copies...)
}

// newCopy returns one copy of the job, with no workers yet.
func (j Job) newCopy(ctx context.Context) (*workers, error) {
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
	c, err := j.newWorkers(ctx)
	if err != nil {
		return nil, err
	}
	c.waits = j.described().Waits
	return c, nil
}

// newWorkers returns one copy of a job whose size and pressure are right.
func (j Job) newWorkers(ctx context.Context) (*workers, error) {
	switch j.Name {
	case result.CPU:
		return cpuWorkers(), nil
	case result.DiskRead, result.DiskWrite:
		return diskWorkers(j)
	case result.Network:
		return networkWorkers(ctx, j)
	case result.MemoryBandwidth, result.MemoryRead, result.MemoryWrite:
		return memoryWorkers(j)
	case result.LLC:
		return cacheWorkers(j)
	case result.Core:
		return coreWorkers(j), nil
	default:
		return nil, fmt.Errorf("there is no such standard job; they are %s", strings.Join(result.Jobs(), ", "))
	}
}
