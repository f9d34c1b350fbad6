package controlplane

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"loadline.dev/loadline/hack/cluster/internal/process"
)

// launchAnywhere starts a part on a free port, which it returns when the part is ready.
func (c *ControlPlane) launchAnywhere(ctx context.Context, build builder) (port int, err error) {
	const attempts = 5
	for range attempts {
		if port, err = freePort(); err != nil {
			return 0, err
		}
		if err = c.launch(ctx, build(port)); !errors.Is(err, errPortTaken) {
			break
		}
	}
	return port, err
}

// launch starts a part and returns when it is ready. A part that fails is gone when launch returns.
func (c *ControlPlane) launch(ctx context.Context, part part) error {
	begin := time.Now()
	binary := cmp.Or(part.path, filepath.Join(c.binaries, part.name))
	p, err := process.Start(process.Spec{
		Name: part.name, Path: binary, Args: part.args, Env: []string{"HOME=" + string(c.folder.folder)}, Log: c.folder.log(part.name),
	})
	if err != nil {
		return err
	}
	if err := c.prober.await(ctx, part, p); err != nil {
		return errors.Join(err, p.Stop())
	}
	c.put(part, p)
	c.say("%s ready after %.1fs\n", part.name, time.Since(begin).Seconds())
	return nil
}

// put adds the process of a part to those that run, and watches over it.
func (c *ControlPlane) put(part part, p *process.Process) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running[part.name], c.parts[part.name] = p, part
	go func() {
		<-p.Exited()
		switch {
		case p.Unwanted():
		case c.options.Exited != nil:
			c.options.Exited(part.name, p.Failure())
		default:
			c.end(p.Failure())
		}
	}()
}

// say writes to the log. Parts start at the same time, and the log need not be ready for that.
func (c *ControlPlane) say(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	fmt.Fprintf(c.log, format, args...)
}

// take removes a part's process from those that run, and returns it, or nil when there is none.
func (c *ControlPlane) take(name string) *process.Process {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.running[name]
	delete(c.running, name)
	return p
}

// end closes done, with err as the reason. The first reason stays.
func (c *ControlPlane) end(err error) {
	c.ended.Do(func() {
		c.err = err
		close(c.done)
	})
}

// whileWhole returns a context that ends with ctx, with cancel, or when the control plane is no longer whole; its
// cause says why.
func (c *ControlPlane) whileWhole(ctx context.Context) (_ context.Context, cancel func()) {
	ctx, cancelCause := context.WithCancelCause(ctx)
	go func() {
		select {
		case <-c.done:
			reason := c.err
			if reason == nil {
				reason = errors.New("the control plane was stopped")
			}
			cancelCause(reason)
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancelCause(nil) }
}
