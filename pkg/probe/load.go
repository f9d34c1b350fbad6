package probe

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"time"

	"loadline.dev/loadline/pkg/probe/result"
)

// SyntheticDemand is what a synthetic job asks of one resource.
type SyntheticDemand struct {
	// Job is the standard job whose units it does.
	Job Job
	// PerRound is the mean service demand of a round, above 0: how long the units take
	// alone on the node.
	PerRound time.Duration
	// UnitsPerSecond is how many units a second of service is; 0 is to find out before
	// the first round, which gives another amount of work every time.
	UnitsPerSecond float64
}

// Distribution is how the demands of rounds are distributed.
type Distribution string

// The distributions.
const (
	Fixed Distribution = "fixed" // all rounds alike
	// Exponential has the given means, like the idle time. The seed chooses the order
	// alone: a job has the same bursts in every run, and so the same neutral time.
	Exponential Distribution = "exponential"
)

// maxRounds is how many rounds a synthetic job can have: its bursts are drawn before it
// begins.
const maxRounds = 1_000_000

// LoadOptions describe a synthetic job. Its loading of a resource is the demand there in
// proportion to the demands and the idle time of a round.
type LoadOptions struct {
	Demands []SyntheticDemand
	// Idle is how long a round is idle in the mean.
	Idle time.Duration
	// Rounds is how many rounds there are, from 1 to a million; all of them take
	// [MaxDuration] at most alone on the node.
	Rounds int
	// Distribution is [Fixed] if it is empty.
	Distribution Distribution
	// Seed chooses the order of the bursts of an exponential distribution. Copies of a job
	// need different ones: with the same one they march in step.
	Seed uint64
	// StartAt is when the first round begins, so that jobs begin at once that cannot be
	// started at once; as soon as possible if it has passed or is zero.
	StartAt time.Time
}

// Synthesize runs a synthetic job: one that, round after round, does the work of each
// demand in turn and then idles. It is work that is fixed, not time, so that the job takes
// longer where it is not alone. When the context ends so does the job: that is no error,
// if its rounds have begun.
func Synthesize(ctx context.Context, o LoadOptions) (l result.Load, err error) {
	if err := o.validate(); err != nil {
		return result.Load{}, err
	}
	boot, err := bootID()
	if err != nil {
		return result.Load{}, err
	}
	l = result.Load{BootID: boot, Ended: result.EndedUnits}
	stations, err := o.open(ctx)
	defer func() { err = errors.Join(err, closeAll(stations)) }()
	if err != nil {
		return result.Load{}, err
	}
	select {
	case <-time.After(time.Until(o.StartAt)):
	case <-ctx.Done():
		return result.Load{}, fmt.Errorf("waiting for %s: %w", o.StartAt.Format(time.RFC3339Nano), ctx.Err())
	}
	err = o.rounds(ctx, stations, &l)
	for _, s := range stations {
		l.Demands = append(l.Demands, s.served)
	}
	return l, err
}

func (o LoadOptions) validate() error {
	if len(o.Demands) == 0 {
		return errors.New("demand: there is none")
	}
	if o.Rounds < 1 || o.Rounds > maxRounds {
		return fmt.Errorf("rounds: %d is not from 1 to %d", o.Rounds, maxRounds)
	}
	if o.Idle < 0 {
		return fmt.Errorf("idle: %v is negative", o.Idle)
	}
	if o.Distribution != "" && o.Distribution != Fixed && o.Distribution != Exponential {
		return fmt.Errorf("distribution: %q is neither %s nor %s", o.Distribution, Fixed, Exponential)
	}
	if ahead := time.Until(o.StartAt); ahead > MaxDuration {
		return fmt.Errorf("start-at: %s is more than %v from now", o.StartAt.Format(time.RFC3339), MaxDuration)
	}
	round := o.Idle.Seconds()
	for i, d := range o.Demands {
		if d.PerRound <= 0 {
			return fmt.Errorf("demand[%d]: %v is not above 0", i, d.PerRound)
		}
		if !(d.UnitsPerSecond >= 0) || math.IsInf(d.UnitsPerSecond, 1) {
			return fmt.Errorf("units-per-second: %v of %s is not a finite number above 0", d.UnitsPerSecond, d.Job.Name)
		}
		round += d.PerRound.Seconds()
	}
	if all := round * float64(o.Rounds); all > MaxDuration.Seconds() {
		return fmt.Errorf("rounds: %d take %.0fs with nobody else on the node; %v is the most", o.Rounds, all, MaxDuration)
	}
	return nil
}

// station is a resource that the job visits once a round.
type station struct {
	workers *workers
	served  result.Served
	owed    float64 // units that are due but less than one
}

// gauging is how long to work alone to find how fast that is.
const gauging = 500 * time.Millisecond

// open makes ready for the demands. It returns those that are, also with an error.
func (o LoadOptions) open(ctx context.Context) (stations []*station, err error) {
	for _, d := range o.Demands {
		c, err := d.Job.newCopy(ctx)
		if err != nil {
			return stations, fmt.Errorf("%s: %w", d.Job.Name, err)
		}
		s := &station{workers: c, served: result.Served{Job: d.Job.Name, UnitsPerSecond: d.UnitsPerSecond}}
		stations = append(stations, s)
		if err := c.grow(1); err != nil {
			return stations, fmt.Errorf("%s: %w", d.Job.Name, err)
		}
		if s.served.UnitsPerSecond == 0 {
			found, err := findPace(ctx, c.units, gauging)
			if err != nil {
				return stations, fmt.Errorf("%s: finding how fast it is: %w", d.Job.Name, err)
			}
			s.served.UnitsPerSecond = found.unitsPerSecond
		}
	}
	return stations, nil
}

func closeAll(stations []*station) error {
	var errs []error
	for _, s := range stations {
		errs = append(errs, s.workers.close())
	}
	return errors.Join(errs...)
}

// bursts returns how many nanoseconds each round takes of what takes so long in the
// mean: of an exponential distribution the quantiles in the middles of as many equal
// parts as there are rounds, in an order drawn by lot.
func (o LoadOptions) bursts(mean time.Duration, stream uint64) []float64 {
	bursts := make([]float64, o.Rounds)
	if o.Distribution != Exponential {
		for i := range bursts {
			bursts[i] = float64(mean)
		}
		return bursts
	}
	sum, n := 0.0, float64(o.Rounds)
	for i := range bursts {
		bursts[i] = -math.Log1p(-(float64(i) + 0.5) / n)
		sum += bursts[i]
	}
	for i := range bursts {
		bursts[i] *= float64(mean) * n / sum // what the tail lacks
	}
	random := rand.New(rand.NewPCG(o.Seed, stream))
	random.Shuffle(len(bursts), func(i, j int) { bursts[i], bursts[j] = bursts[j], bursts[i] })
	return bursts
}

// rounds does all rounds.
func (o LoadOptions) rounds(ctx context.Context, stations []*station, l *result.Load) (err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	demands := make([][]float64, len(stations))
	for i, d := range o.Demands {
		demands[i] = o.bursts(d.PerRound, uint64(i)+1)
	}
	idles := o.bursts(o.Idle, 0)
	cpu, err := cpuTime()
	if err != nil {
		return err
	}
	if l.Begin, err = Now(); err != nil {
		return err
	}
	now := l.Begin
	for ; l.Rounds < o.Rounds && err == nil; l.Rounds++ {
		for i, s := range stations {
			if now, err = s.serve(ctx, demands[i][l.Rounds], now); err != nil {
				break
			}
		}
		if err == nil {
			now, err = idle(ctx, int64(idles[l.Rounds]), now, l)
		}
		if err != nil {
			break
		}
	}
	if errors.Is(err, context.Canceled) {
		l.Ended, err = result.EndedTerminated, nil
	}
	l.End = now
	until, cpuErr := cpuTime()
	l.CPUNanos = until - cpu
	return errors.Join(err, cpuErr)
}

// serve does the work of a demand in nanoseconds. It is given the time, and
// returns it.
func (s *station) serve(ctx context.Context, nanos float64, now int64) (int64, error) {
	s.owed += nanos / 1e9 * s.served.UnitsPerSecond
	var err error
	for ; s.owed >= 1 && err == nil; s.owed-- {
		if err = ctx.Err(); err == nil {
			err = s.workers.units[0]()
		}
		if err == nil {
			s.served.Units++
		}
	}
	then, clockErr := Now()
	s.served.Nanos += then - now
	return then, errors.Join(err, clockErr)
}

// idle lets time pass, and looks up now and then whether the context has ended.
func idle(ctx context.Context, nanos, now int64, l *result.Load) (int64, error) {
	const step = int64(100 * time.Millisecond)
	l.IdleNanos += nanos
	begin, until := now, now+nanos
	for now < until {
		if err := ctx.Err(); err != nil {
			return now, err
		}
		if err := sleepUntil(min(until, now+step)); err != nil {
			return now, err
		}
		var err error
		if now, err = Now(); err != nil {
			return begin, err
		}
	}
	l.IdledNanos += now - begin
	return now, nil
}
