package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"loadline.dev/loadline/hack/local"
)

// restartAfter is how long after its end a program is started again, as a kubelet does.
const restartAfter = time.Second

// program is one that is started again whenever it ends.
type program struct {
	name, binary string
	flags        []string
	log          *os.File
	cancel       context.CancelFunc
	ended        chan struct{}

	mu      sync.Mutex
	process *local.Process // nil while there is none
	down    bool           // it is not to be started
	woken   chan struct{}  // closed when down changes
	exits   int            // by itself
}

// startProgram starts a program that prints to a file.
func startProgram(ctx context.Context, name, log, binary string, flags ...string) (*program, error) {
	file, err := os.Create(log)
	if err != nil {
		return nil, err
	}
	p := &program{name: name, binary: binary, flags: flags, log: file, ended: make(chan struct{}), woken: make(chan struct{})}
	ctx, p.cancel = context.WithCancel(ctx)
	go p.run(ctx)
	return p, nil
}

// run starts the program again and again until ctx ends.
func (p *program) run(ctx context.Context) {
	defer close(p.ended)
	for ctx.Err() == nil {
		process, woken, err := p.start()
		if err != nil {
			fmt.Fprintln(p.log, err)
		}
		var exited <-chan struct{}
		if process != nil {
			exited, woken = process.Exited(), nil
		}
		select {
		case <-ctx.Done():
			return
		case <-woken:
			continue
		case <-exited:
		}
		p.mu.Lock()
		if !p.down {
			p.exits++
		}
		p.process = nil
		p.mu.Unlock()
		timer := time.NewTimer(restartAfter)
		select {
		case <-ctx.Done():
		case <-timer.C:
		}
		timer.Stop()
	}
}

// start starts a process unless the program is to be down. woken is closed when it need not be any more.
func (p *program) start() (process *local.Process, woken <-chan struct{}, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.down {
		p.process, err = local.Launch(p.log, p.binary, p.flags...)
	}
	return p.process, p.woken, err
}

// set says whether the program is to be down.
func (p *program) set(down bool) *local.Process {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = down
	close(p.woken)
	p.woken = make(chan struct{})
	return p.process
}

// kill ends the process as a crash does. None is started until revive.
func (p *program) kill() error {
	if process := p.set(true); process != nil {
		return process.Kill()
	}
	return nil
}

// revive has the program started again.
func (p *program) revive() { p.set(false) }

// pause has the kernel stop the process, and resume has it go on. One that is not there is left alone.
func (p *program) pause() error  { return p.signal((*local.Process).Pause) }
func (p *program) resume() error { return p.signal((*local.Process).Resume) }

func (p *program) signal(do func(*local.Process) error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.process == nil {
		return nil
	}
	return do(p.process)
}

// stop ends the program for good.
func (p *program) stop() error {
	p.cancel()
	<-p.ended
	p.mu.Lock()
	defer p.mu.Unlock()
	var errs []error
	if p.process != nil {
		errs = append(errs, p.process.Kill())
	}
	return errors.Join(append(errs, p.log.Close())...)
}

// restarts returns how many times the program has ended by itself.
func (p *program) restarts() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.exits
}
