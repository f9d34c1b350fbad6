package controlplane

import (
	"context"
	"errors"
	"fmt"

	"loadline.dev/loadline/hack/cluster/internal/process"
)

// The parts of a control plane, by the names of their programs and logs.
const (
	Etcd              = etcdName
	APIServer         = apiServerName
	ControllerManager = controllerManagerName
	Scheduler         = schedulerName
	KWOK              = kwokName
)

// Kill kills a part, as a crash would. It stays away until Revive.
func (c *ControlPlane) Kill(name string) error {
	c.lifecycle.Lock()
	defer c.lifecycle.Unlock()
	p := c.take(name)
	if p == nil {
		return fmt.Errorf("kill %s: it does not run", name)
	}
	return p.Kill()
}

// Revive starts a part again that was killed, or that ended by itself, on the same port, and returns when it is ready. A part that
// does not become ready is gone when Revive returns: another attempt may succeed. A part that runs is left alone.
func (c *ControlPlane) Revive(ctx context.Context, name string) error {
	c.lifecycle.Lock()
	defer c.lifecycle.Unlock()
	if c.stopped {
		return fmt.Errorf("start %s: the control plane has been stopped", name)
	}
	return c.revive(ctx, name)
}

// revive is Revive for those who hold c.lifecycle.
func (c *ControlPlane) revive(ctx context.Context, name string) error {
	part, ran := c.launched(name)
	switch {
	case part.name == "":
		return fmt.Errorf("start %s: the control plane has no such part", name)
	case ran != nil && !hasExited(ran):
		return nil
	}
	err := errPortTaken
	for errors.Is(err, errPortTaken) && ctx.Err() == nil {
		err = c.launch(ctx, part)
	}
	return err
}

// Pause has the kernel stop a part, as SIGSTOP does: it keeps its connections and does nothing.
func (c *ControlPlane) Pause(name string) error {
	return c.toProcess(name, (*process.Process).Pause)
}

// Resume has a part go on that was stopped by Pause.
func (c *ControlPlane) Resume(name string) error {
	return c.toProcess(name, (*process.Process).Resume)
}

func (c *ControlPlane) toProcess(name string, do func(*process.Process) error) error {
	_, p := c.launched(name)
	if p == nil {
		return fmt.Errorf("%s does not run", name)
	}
	return do(p)
}

// launched returns how a part is started, and its process, nil while it has none.
func (c *ControlPlane) launched(name string) (part, *process.Process) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.parts[name], c.running[name]
}

// hasExited reports whether a process has ended.
func hasExited(p *process.Process) bool {
	select {
	case <-p.Exited():
		return true
	default:
		return false
	}
}
