package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"loadline.dev/loadline/hack/recording"
	"loadline.dev/loadline/pkg/evaluate/observations"
	"loadline.dev/loadline/pkg/model/inflation"
	"loadline.dev/loadline/pkg/prometheus"
)

// The processors of the server and of its neighbours.
const (
	serverCPU    = 0
	neighbourCPU = 1
)

// process is a child.
type process struct {
	command *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Scanner
	ready   string
}

// start starts a child on a processor, and waits until it is ready.
func start(ctx context.Context, cpu int, arguments ...string) (p *process, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p = &process{command: exec.CommandContext(ctx, self, arguments...)}
	p.command.Stderr = os.Stderr
	if p.in, err = p.command.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.out = bufio.NewScanner(out)
	if err := pinned(cpu, p.command.Start); err != nil {
		return nil, fmt.Errorf("%s: %w", arguments[0], err)
	}
	if !p.out.Scan() {
		return nil, errors.Join(fmt.Errorf("%s ended before it was ready", arguments[0]), p.out.Err(), p.end())
	}
	p.ready = p.out.Text()
	return p, nil
}

// pinned calls a function that starts a process on one processor: children begin where the thread is that starts them.
func pinned(cpu int, do func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var before, only unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		return err
	}
	only.Set(cpu)
	if err := unix.SchedSetaffinity(0, &only); err != nil {
		return err
	}
	return errors.Join(do(), unix.SchedSetaffinity(0, &before))
}

// tell writes a line to a child.
func (p *process) tell(what any) error {
	_, err := fmt.Fprintln(p.in, what)
	return err
}

// end ends a child.
func (p *process) end() error {
	return errors.Join(p.in.Close(), p.command.Wait())
}

// seconds returns how much processor time a child has used.
func (p *process) seconds() (float64, error) {
	var t unix.Timespec
	const scheduled = 2 // CPUCLOCK_SCHED: the clock of a process as the scheduler counts it
	if err := unix.ClockGettime(int32(^p.command.Process.Pid<<3|scheduled), &t); err != nil {
		return 0, err
	}
	return float64(t.Nano()) / 1e9, nil
}

// lab are the processes of a case: the server, the fixed piece of work beside it, and its neighbours in their order.
type lab struct {
	slot          time.Duration
	server, fixed *process
	beside        []*process
	scraper       *http.Client
}

// run runs all cases, and shows what came of them.
func run(ctx context.Context, o options, out, progress io.Writer) error {
	if n := runtime.NumCPU(); n < 2 {
		return fmt.Errorf("this machine has %d processor, and worklab needs two", n)
	}
	cases := draw(&o)
	outcomes := make([]outcome, 0, len(cases))
	for i, c := range cases {
		_, _ = fmt.Fprintf(progress, "%d of %d: %s\n", i+1, len(cases), c.Name)
		result, err := c.run(ctx, &o)
		if err != nil {
			return fmt.Errorf("%s: %w", c.Name, err)
		}
		result.judge()
		outcomes = append(outcomes, *result)
	}
	if o.out != "" {
		if err := recording.Save(o.out, outcomes); err != nil {
			return err
		}
	}
	return show(out, outcomes)
}

// run runs a case.
func (c *aCase) run(ctx context.Context, o *options) (result *outcome, err error) {
	l := &lab{slot: o.slot, scraper: prometheus.NewPodClient(5 * time.Second)}
	var all []*process
	defer func() {
		for _, p := range all {
			err = errors.Join(err, p.end())
		}
	}()
	begin := func(cpu int, arguments ...string) (*process, error) {
		p, err := start(ctx, cpu, arguments...)
		if err == nil {
			all = append(all, p)
		}
		return p, err
	}
	if l.server, err = begin(serverCPU, "serve", strconv.Itoa(c.SetBytes)); err != nil {
		return nil, err
	}
	for _, arguments := range [][]string{{"ask", l.server.ready}, {"press", "64"}, {"press", strconv.Itoa(256 << 20)}} {
		p, err := begin(neighbourCPU, arguments...)
		if err != nil {
			return nil, err
		}
		l.beside = append(l.beside, p)
	}
	if l.fixed, err = begin(serverCPU, "repeat", strconv.Itoa(c.SetBytes)); err != nil {
		return nil, err
	}
	result = &outcome{aCase: *c}
	return result, l.record(ctx, result)
}

// reading is what the processes have done so far.
type reading struct {
	at       time.Time
	requests float64
	seconds  []float64 // of the server and of its neighbours
	// busy and stolen are the ticks for which processors had work, and for which the hypervisor ran something else meanwhile.
	busy, stolen float64
}

func (l *lab) read(ctx context.Context) (r reading, err error) {
	if r.requests, err = prometheus.ReadCounter(ctx, l.scraper, "http://"+l.server.ready+"/metrics", counter, nil); err != nil {
		return r, err
	}
	r.at = time.Now()
	if r.busy, r.stolen, err = processors(); err != nil {
		return r, err
	}
	for _, p := range append([]*process{l.server}, l.beside...) {
		used, err := p.seconds()
		if err != nil {
			return r, err
		}
		r.seconds = append(r.seconds, used)
	}
	return r, nil
}

// processors returns the ticks for which they had work, and for which the hypervisor ran something else meanwhile.
func processors() (busy, stolen float64, err error) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, 0, err
	}
	line, _, _ := strings.Cut(string(text), "\n")
	fields := strings.Fields(line)
	const idle, waiting, steal = 4, 5, 8
	if len(fields) <= steal {
		return 0, 0, fmt.Errorf("/proc/stat: %q has no time that was stolen", line)
	}
	for i, field := range fields[1 : steal+1] {
		ticks, err := strconv.ParseFloat(field, 64)
		if err != nil {
			return 0, 0, fmt.Errorf("/proc/stat: %w", err)
		}
		switch i + 1 {
		case idle, waiting:
		case steal:
			stolen = ticks
		default:
			busy += ticks
		}
	}
	return busy, stolen, nil
}

// set has the neighbours do what they do in a slot.
func (l *lab) set(rate float64, spins, thrashes bool) error {
	return errors.Join(l.beside[client].tell(rate), l.beside[spinner].tell(spins), l.beside[thrasher].tell(thrashes))
}

// record adds to an outcome what the server did in each slot of a case, and how long the fixed piece of work took.
func (l *lab) record(ctx context.Context, c *outcome) error {
	if err := l.set(c.rates[0], false, false); err != nil {
		return err
	}
	if err := wait(ctx, 2*l.slot); err != nil { // connections, memory and the runtime are warm then
		return err
	}
	before, err := l.read(ctx)
	if err != nil {
		return err
	}
	if _, err := l.piece(); err != nil {
		return err
	}
	for k := range c.rates {
		if err := l.set(c.rates[k], c.spins[k], c.thrashes[k]); err != nil {
			return err
		}
		if err := wait(ctx, l.slot); err != nil {
			return err
		}
		now, err := l.read(ctx)
		if err != nil {
			return err
		}
		piece, err := l.piece()
		if err != nil {
			return err
		}
		if stolen := now.stolen - before.stolen; stolen <= observations.MaxStolen*(now.busy-before.busy+stolen) {
			seconds := now.at.Sub(before.at).Seconds()
			v := inflation.Interval{Slot: int64(k), Seconds: seconds, CPU: now.seconds[0] - before.seconds[0], Units: now.requests - before.requests}
			for j := range neighbours {
				v.Neighbours = append(v.Neighbours, (now.seconds[1+j]-before.seconds[1+j])/seconds)
			}
			c.Series, c.Pieces = append(c.Series, v), append(c.Pieces, piece)
		}
		before = now
	}
	return l.set(0, false, false)
}

// piece returns how many seconds the fixed piece of work took on average since it was asked last, 0 where it was not done.
func (l *lab) piece() (float64, error) {
	if err := l.fixed.tell(""); err != nil {
		return 0, err
	}
	if !l.fixed.out.Scan() {
		return 0, errors.Join(errors.New("the fixed piece of work ended"), l.fixed.out.Err())
	}
	var seconds float64
	var number int
	if _, err := fmt.Sscan(l.fixed.out.Text(), &seconds, &number); err != nil || number == 0 {
		return 0, err
	}
	return seconds / float64(number), nil
}
