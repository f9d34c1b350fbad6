package runqueue

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/btf"
	"github.com/cilium/ebpf/link"
	"github.com/cilium/ebpf/ringbuf"
	"golang.org/x/sys/unix"
)

// ErrUnavailable means that the kernel does not let this process observe its scheduler. The text of an error that wraps it says what
// is missing.
var ErrUnavailable = errors.New("the scheduler cannot be observed here")

// ErrLost means that there is no account, as events are missing: the observer was not run in time to empty its buffer.
var ErrLost = errors.New("events were lost: the buffer was full")

const (
	// room is the size of the buffer: some 400,000 events, 20 s of 20,000 a second.
	room = 32 << 20
	// period is how often the buffer is emptied.
	period = 200 * time.Millisecond
)

// Observer keeps an account of all threads of the machine. Its methods may be called concurrently.
type Observer struct {
	lost   *ebpf.Map
	opened []io.Closer

	mu     sync.Mutex
	events *ringbuf.Reader
	record ringbuf.Record
	ledger *ledger

	stop  context.CancelFunc
	ended chan struct{}
	err   error // of the emptying, once it has ended
}

// Start begins to observe. The observer must be closed. The error wraps [ErrUnavailable] if the kernel lacks what it takes or
// refuses it.
func Start() (_ *Observer, err error) {
	o := &Observer{ledger: newLedger(), ended: make(chan struct{})}
	defer func() {
		if err != nil {
			err = errors.Join(err, o.release())
		}
	}()
	types, err := btf.LoadKernelSpec()
	if err != nil {
		return nil, refused(fmt.Errorf("read the kernel's type information: %w", err))
	}
	layout, err := newLayout(types)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	ring, err := o.newMap(&ebpf.MapSpec{Name: "events", Type: ebpf.RingBuf, MaxEntries: room})
	if err != nil {
		return nil, err
	}
	if o.lost, err = o.newMap(&ebpf.MapSpec{Name: "lost", Type: ebpf.Array, KeySize: 4, ValueSize: 8, MaxEntries: 1}); err != nil {
		return nil, err
	}
	if o.events, err = ringbuf.NewReader(ring); err != nil {
		return nil, fmt.Errorf("read the buffer of events: %w", err)
	}
	o.opened = append(o.opened, o.events)
	for name, program := range (&assembler{layout, ring, o.lost}).programs() {
		if err := o.attach(name, program); err != nil {
			return nil, err
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	o.stop = stop
	go o.run(ctx)
	return o, nil
}

// newMap makes a map, which is closed with the observer.
func (o *Observer) newMap(spec *ebpf.MapSpec) (*ebpf.Map, error) {
	m, err := ebpf.NewMap(spec)
	if err != nil {
		return nil, refused(fmt.Errorf("make the map %s: %w", spec.Name, err))
	}
	o.opened = append(o.opened, m)
	return m, nil
}

// attach loads a program and attaches it to a tracepoint.
func (o *Observer) attach(tracepoint string, instructions asm.Instructions) error {
	program, err := ebpf.NewProgram(&ebpf.ProgramSpec{
		Name: tracepoint, Type: ebpf.Tracing, AttachType: ebpf.AttachTraceRawTp, AttachTo: tracepoint, Instructions: instructions,
		License: "Dual MIT/GPL", // the kernel lets only programs under the GPL read its structures
	})
	if err != nil {
		return refused(fmt.Errorf("load the program for %s: %w", tracepoint, err))
	}
	o.opened = append(o.opened, program)
	attached, err := link.AttachTracing(link.TracingOptions{Program: program})
	if err != nil {
		return refused(fmt.Errorf("attach the program to %s: %w", tracepoint, err))
	}
	o.opened = append(o.opened, attached)
	return nil
}

// refused adds to an error of the kernel what would have let it agree, if it is not about what is wrong in a program.
func refused(err error) error {
	var verifier *ebpf.VerifierError
	switch {
	case errors.As(err, &verifier):
		return err
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.EACCES):
		return fmt.Errorf("%w: it takes CAP_BPF and CAP_PERFMON, and bpf(2) must not be filtered: %w", ErrUnavailable, err)
	case errors.Is(err, unix.ENOSYS), errors.Is(err, ebpf.ErrNotSupported), errors.Is(err, btf.ErrNotFound):
		return fmt.Errorf("%w: it takes Linux 6.0 with BTF (/sys/kernel/btf/vmlinux) and CONFIG_BPF_EVENTS: %w", ErrUnavailable, err)
	}
	return err
}

// run empties the buffer from time to time.
func (o *Observer) run(ctx context.Context) {
	defer close(o.ended)
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		o.mu.Lock()
		err := o.drain()
		o.mu.Unlock()
		if err != nil {
			o.err = err
			return
		}
	}
}

// drain adds all events that are in the buffer to the ledger.
func (o *Observer) drain() error {
	o.events.SetDeadline(time.Unix(1, 0)) // long past: do not wait
	for {
		if err := o.events.ReadInto(&o.record); errors.Is(err, os.ErrDeadlineExceeded) {
			return nil
		} else if err != nil {
			return fmt.Errorf("read an event: %w", err)
		}
		var e event
		if _, err := binary.Decode(o.record.RawSample, binary.NativeEndian, &e); err != nil {
			return fmt.Errorf("read an event: %w", err)
		}
		o.ledger.add(&e)
	}
}

// Account returns where the time of threads went since the start. The error wraps [ErrLost] if
// events were lost since.
func (o *Observer) Account() (Account, error) {
	select {
	case <-o.ended:
		return Account{}, cmp.Or(o.err, os.ErrClosed)
	default:
	}
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		return Account{}, fmt.Errorf("read the clock: %w", err)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := o.drain(); err != nil {
		return Account{}, err
	}
	var lost uint64
	if err := o.lost.Lookup(uint32(0), &lost); err != nil {
		return Account{}, fmt.Errorf("read how many events were lost: %w", err)
	}
	if lost > 0 {
		return Account{}, fmt.Errorf("%w: %d", ErrLost, lost)
	}
	return o.ledger.until(now.Nano()), nil
}

// Close stops observing.
func (o *Observer) Close() error {
	o.stop()
	<-o.ended
	return errors.Join(o.err, o.release())
}

func (o *Observer) release() error {
	var errs []error
	for _, c := range slices.Backward(o.opened) {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}
