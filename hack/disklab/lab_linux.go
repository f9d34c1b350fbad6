package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"loadline.dev/loadline/pkg/gauge/reading"
)

// lab runs jobs in pods of a node that is this machine.
type lab struct {
	dir     string
	number  string // of the device
	log     io.Writer
	groups  *groups
	reader  *reading.Reader
	delays  delays
	polling sync.WaitGroup // of the reader
	stop    context.CancelFunc
	warm    time.Duration
	seconds int
	tries   int
	// patience is how long a run waits until the machine does nothing else.
	patience time.Duration
	// foreignCPU is which part of the processors' time others may use.
	foreignCPU float64
}

// cgroupRoot is where control groups are mounted.
const cgroupRoot = "/sys/fs/cgroup"

// openLab makes what runs need: files that are written and lie on the device, and control groups. The caller closes it, whatever the error.
func openLab(ctx context.Context, parent string, o options, log io.Writer) (*lab, error) {
	l := &lab{log: log, warm: o.warm, seconds: o.seconds, tries: o.tries, patience: o.patience, foreignCPU: o.foreignCPU}
	var err error
	if l.dir, err = os.MkdirTemp(parent, "disklab-"); err != nil {
		return l, err
	}
	var of unix.Stat_t
	if err := unix.Stat(l.dir, &of); err != nil {
		return l, err
	}
	l.number = fmt.Sprintf("%d:%d", unix.Major(of.Dev), unix.Minor(of.Dev))
	if _, err := l.device(); err != nil {
		return l, fmt.Errorf("--dir: %s: %w: want a folder of a file system on a block device", parent, err)
	}
	for i := range maxPods {
		if err := fill(ctx, l.path(i), fileBytes); err != nil {
			return l, err
		}
	}
	if l.groups, err = newGroups(cgroupRoot); err != nil {
		return l, err
	}
	if l.delays, err = accountDelays(!o.pressureOnly); err != nil {
		return l, err
	}
	l.reader = &reading.Reader{Pod: anchor, Stalls: reading.NewStalls()}
	ctx, l.stop = context.WithCancel(ctx)
	l.polling.Go(func() { l.reader.Stalls.Run(ctx) })
	return l, l.groups.account(l.number)
}

func (l *lab) path(pod int) string { return filepath.Join(l.dir, fmt.Sprint("pod-", pod)) }

// fill writes a file: what was never written is read without the device.
func fill(ctx context.Context, path string, bytes int64) (err error) {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Sync(), file.Close()) }()
	buffer := make([]byte, maxBytes)
	state := uint64(bytes) + 1
	for i := range buffer { // no host stores zeros as nothing
		state = state*6364136223846793005 + 1442695040888963407
		buffer[i] = byte(state >> 56)
	}
	for at := int64(0); at < bytes && err == nil; at += maxBytes {
		if _, err = file.Write(buffer); err == nil {
			err = ctx.Err()
		}
	}
	return err
}

func (l *lab) close() error {
	if l.stop != nil {
		l.stop()
		l.polling.Wait()
	}
	err := l.delays.end()
	if l.groups != nil {
		err = errors.Join(err, l.groups.remove(""))
	}
	if l.dir != "" {
		err = errors.Join(err, os.RemoveAll(l.dir))
	}
	return err
}

func (l *lab) device() (device, error) {
	text, err := os.ReadFile("/proc/diskstats")
	if err != nil {
		return device{}, err
	}
	return parseDevice(string(text), l.number)
}

// run runs jobs together, again while others disturb the run.
func (l *lab) run(ctx context.Context, specs []spec, which []int) (run, error) {
	for try := 1; ; try++ {
		r, err := l.once(ctx, specs, which)
		if err != nil {
			return r, err
		}
		r.Tries, r.Noisy = try, r.Noise.spoils(l.foreignCPU)
		if !r.Noisy || try == l.tries {
			return r, nil
		}
		fmt.Fprintf(l.log, "  again: %.0f %% of the operations and %.0f %% of the processors are others'\n", 100*r.Noise.Operations, 100*r.Noise.CPU)
		if err := pause(ctx, time.Second); err != nil {
			return r, err
		}
	}
}

// pause waits, or returns that the context ended.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// end ends jobs, and all that they started.
func (l *lab) end(ctx context.Context, running []*child) (err error) {
	for _, c := range running {
		err = errors.Join(err, c.stop(), l.groups.end(context.WithoutCancel(ctx), c.uid))
	}
	return errors.Join(err, l.groups.remove("podd15c0000"))
}

// moment is everything that is counted, at a moment.
type moment struct {
	at     time.Time
	device device
	busy   float64
	own    float64 // CPU time of the lab
	pods   []momentOf
}

type momentOf struct {
	totals             totals
	served             served
	disk, wait, memory stall
}

func (l *lab) once(ctx context.Context, specs []spec, which []int) (_ run, err error) {
	unix.Sync()
	running := make([]*child, 0, len(which))
	defer func() {
		err = errors.Join(err, l.end(ctx, running))
	}()
	for _, i := range which {
		c, err := l.start(ctx, specs[i], i)
		if err != nil {
			return run{}, err
		}
		running = append(running, c)
	}
	before, err := l.quiet(ctx)
	if err != nil {
		return run{}, err
	}
	for _, c := range running {
		if err := c.say(lineStart); err != nil {
			return run{}, err
		}
	}
	if err := l.warmUp(ctx); err != nil {
		return run{}, err
	}
	r := run{Jobs: which, Noise: noise{Before: before}}
	return r, l.measure(ctx, &r, specs, running)
}

// warmUp has the jobs run for a while, and the reader follow the pods whose tasks come and go, as a gauge does from an interval to the next.
func (l *lab) warmUp(ctx context.Context) error {
	before, err := l.reader.Read()
	if err != nil {
		return err
	}
	if err := pause(ctx, l.warm/2); err != nil {
		return err
	}
	after, err := l.reader.Read()
	if err != nil {
		return err
	}
	l.reader.Follow(after, reading.Between(before, after, labNode, nil))
	return pause(ctx, l.warm/2)
}

func (l *lab) measure(ctx context.Context, r *run, specs []spec, running []*child) error {
	first, err := l.reader.Read()
	if err != nil {
		return err
	}
	begin, err := l.now(running)
	if err != nil {
		return err
	}
	last := begin
	for s := range l.seconds {
		if err := pause(ctx, time.Until(begin.at.Add(time.Duration(s+1)*time.Second))); err != nil {
			return err
		}
		now, err := l.now(running)
		if err != nil {
			return err
		}
		r.Each = append(r.Each, now.row(last))
		last = now
	}
	second, err := l.reader.Read()
	if err != nil {
		return err
	}
	r.Interval = reading.Between(first, second, labNode, nil)
	r.Readings = []*reading.Reading{first, second}
	kernelWrites := false
	for _, i := range r.Jobs {
		kernelWrites = kernelWrites || specs[i].Operation == write && (specs[i].Cache != direct || specs[i].Sync != "")
	}
	r.conclude(begin, last, kernelWrites)
	return nil
}

// row returns what Each of a run has of a second.
func (m *moment) row(before *moment) []float64 {
	d := m.device.since(before.device)
	row := []float64{float64(d.Reads), float64(d.Writes), 1e3 * d.Queued}
	for i, pod := range m.pods {
		b := before.pods[i]
		t := pod.totals.since(b.totals)
		row = append(row, float64(t.Units), rounded(1e6*t.Latency/float64(max(1, t.Units)), 10),
			rounded(1e3*pod.disk.since(b.disk).Some, 10), rounded(1e3*pod.wait.since(b.wait).Some, 10))
	}
	return row
}

// conclude sets what follows from the first and the last moment.
func (r *run) conclude(begin, end *moment, kernelWrites bool) {
	r.Seconds = rounded(end.at.Sub(begin.at).Seconds(), 1e6)
	r.Device = end.device.since(begin.device)
	all, used := served{}, end.own-begin.own
	for i, pod := range end.pods {
		b := begin.pods[i]
		t := pod.totals.since(b.totals)
		// The job answers a little later than it is asked: its units are those of its own time.
		span := float64(t.At) / 1e9
		of := podRun{
			Units: t.Units, Latency: rounded(t.Latency/float64(max(1, t.Units)), 1e9), Blocked: rounded(t.Blocked*r.Seconds/span, 1e6),
			CPU: rounded(t.CPU, 1e6), Served: pod.served.since(b.served),
			Disk: pod.disk.since(b.disk).rounded(), Wait: pod.wait.since(b.wait).rounded(), Memory: pod.memory.since(b.memory).rounded(),
		}
		r.Pods = append(r.Pods, of)
		all.Reads, all.Writes = all.Reads+of.Served.Reads, all.Writes+of.Served.Writes
	}
	for i := range r.Interval.Pods { // with servers that programs started, which the job does not know
		used += r.Interval.Pods[i].Run
	}
	_, processors := parseBusy(statText())
	r.Noise.CPU = rounded(max(0, end.busy-begin.busy-used)/r.Seconds/float64(max(1, processors)), 1e4)
	r.Noise.Operations = rounded(foreignOperations(r.Device, all, kernelWrites, r.Seconds), 1e4)
}

// quiet waits until the device and the processors do little by themselves, for as long as the lab is patient, and returns how many operations
// the device did in the last quarter of a second.
func (l *lab) quiet(ctx context.Context) (int64, error) {
	for until := time.Now().Add(l.patience); ; {
		before, err := l.device()
		if err != nil {
			return 0, err
		}
		busy, processors := parseBusy(statText())
		if err := pause(ctx, time.Second/4); err != nil {
			return 0, err
		}
		after, err := l.device()
		if err != nil {
			return 0, err
		}
		later, _ := parseBusy(statText())
		d := after.since(before)
		n := d.Reads + d.Writes
		if time.Now().After(until) || n <= foreignFloor && (later-busy)*4 <= l.foreignCPU*float64(processors) {
			return n, nil
		}
	}
}

func statText() string {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return ""
	}
	return string(text)
}

// now asks everything that counts.
func (l *lab) now(running []*child) (*moment, error) {
	m := &moment{at: time.Now()}
	var err error
	if m.device, err = l.device(); err != nil {
		return nil, err
	}
	m.busy, _ = parseBusy(statText())
	var used unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &used); err != nil {
		return nil, err
	}
	m.own = float64(used.Utime.Nano()+used.Stime.Nano()) / 1e9
	for _, c := range running {
		of := momentOf{
			disk:   parseStall(l.groups.file("unified", c.uid, "io.pressure")),
			wait:   parseStall(l.groups.file("unified", c.uid, "cpu.pressure")),
			memory: parseStall(l.groups.file("unified", c.uid, "memory.pressure")),
		}
		if l.groups.version1 {
			of.served = parseServed1(l.groups.file("blkio", c.uid, "blkio.throttle.io_serviced_recursive"),
				l.groups.file("blkio", c.uid, "blkio.throttle.io_service_bytes_recursive"), l.number)
		} else {
			of.served = parseServed2(l.groups.file("", c.uid, "io.stat"), l.number)
		}
		if of.totals, err = c.ask(); err != nil {
			return nil, err
		}
		m.pods = append(m.pods, of)
	}
	return m, nil
}

// child is a job that runs in a pod.
type child struct {
	uid     string
	command *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
	errors  strings.Builder
}

// start starts a job in a pod of its own, and returns when it is ready.
func (l *lab) start(ctx context.Context, s spec, pod int) (*child, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	c := &child{uid: podUID(pod), command: exec.CommandContext(ctx, self, "job", "--spec", string(text), "--file", l.path(pod))}
	c.command.Stderr = &c.errors
	// Ctrl-C is for the lab, which ends its jobs; and they end with it.
	c.command.SysProcAttr = &unix.SysProcAttr{Setpgid: true, Pdeathsig: unix.SIGKILL}
	if c.in, err = c.command.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := c.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.out = bufio.NewReader(out)
	if err := c.command.Start(); err != nil {
		return nil, err
	}
	if err := l.groups.add(c.uid, container(pod), c.command.Process.Pid); err != nil {
		return nil, errors.Join(err, c.stop())
	}
	if _, err := c.answer(); err != nil {
		return nil, errors.Join(err, c.stop())
	}
	return c, nil
}

func (c *child) say(line string) error {
	_, err := io.WriteString(c.in, line+"\n")
	return err
}

func (c *child) ask() (totals, error) {
	if err := c.say(lineTotals); err != nil {
		return totals{}, err
	}
	return c.answer()
}

func (c *child) answer() (totals, error) {
	t := totals{}
	line, err := c.out.ReadBytes('\n')
	if err != nil {
		return t, fmt.Errorf("a job ended early: %w: %s", err, c.errors.String())
	}
	return t, json.Unmarshal(line, &t)
}

// stop ends a job.
func (c *child) stop() error {
	err := errors.Join(c.in.Close(), c.command.Process.Kill())
	if waited := c.command.Wait(); waited != nil {
		if _, killed := errors.AsType[*exec.ExitError](waited); !killed { // it was killed, unless its input ended it first
			err = errors.Join(err, waited)
		}
	}
	if errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	return err
}
