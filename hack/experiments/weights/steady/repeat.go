package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"loadline.dev/loadline/hack/experiments/weights/account"
)

// usageFile says how long all processes of the container have run.
const usageFile = "/sys/fs/cgroup/cpuacct/cpuacct.usage"

// repeated is a program that is run again and again, or a server that requests are sent to.
type repeated struct {
	command []string
	prepare string
	url     string
	think   time.Duration
}

func (r *repeated) run(ctx context.Context, w window) (a account.Account, err error) {
	if r.prepare != "" {
		if err := invoke(ctx, []string{"/bin/sh", "-ec", r.prepare}); err != nil {
			return a, fmt.Errorf("preparing: %w", err)
		}
	}
	operation := func() error { return invoke(ctx, r.command) }
	if r.url != "" {
		server, cancel := exec.CommandContext(ctx, r.command[0], r.command[1:]...), func() {}
		server.Stderr = os.Stderr
		if err := server.Start(); err != nil {
			return a, err
		}
		defer cancel()
		defer func() { err = errors.Join(err, end(server)) }()
		operation = func() error { return get(ctx, r.url) }
		for time.Now().Before(w.from) && operation() != nil { // until it is up
			sleep(100 * time.Millisecond)
		}
	}
	a.Late = w.late()
	sleep(time.Until(w.from.Add(-lead)))
	var begun time.Time
	var used time.Duration
	var part account.Part
	for operations := 0; ; operations++ {
		now := time.Now()
		switch {
		case now.After(w.end):
			if part.Work == 0 {
				return a, errors.New("no operation began and ended in the window")
			}
			a.Parts = []account.Part{part}
			return a, nil
		case now.Before(w.from):
			operations = 0
		case begun.IsZero():
			begun, operations = now, 0
			if used, err = usage(); err != nil {
				return a, err
			}
		case now.Before(w.to):
			until, err := usage()
			if err != nil {
				return a, err
			}
			part = account.Part{Wall: now.Sub(begun), CPU: until - used, Idle: time.Duration(operations) * r.think, Work: float64(operations)}
		}
		if err := operation(); err != nil {
			return a, err
		}
		sleep(r.think)
	}
}

// invoke runs a program to its end.
func invoke(ctx context.Context, command []string) error {
	var said strings.Builder
	c := exec.CommandContext(ctx, command[0], command[1:]...)
	c.Stderr = &said
	if err := c.Run(); err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(command, " "), err, said.String())
	}
	return nil
}

func get(ctx context.Context, url string) (err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return err
	}
	request.Header.Set("Accept-Encoding", "gzip")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, response.Body.Close()) }()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", url, response.Status)
	}
	_, err = io.Copy(io.Discard, response.Body)
	return err
}

// end ends a server.
func end(server *exec.Cmd) error {
	if err := server.Process.Signal(syscall.SIGKILL); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	var killed *exec.ExitError
	if err := server.Wait(); !errors.As(err, &killed) {
		return err
	}
	return nil
}

// usage returns how long the processes of the container have run so far.
func usage() (time.Duration, error) {
	content, err := os.ReadFile(usageFile)
	if err != nil {
		return 0, err
	}
	nanoseconds, err := strconv.ParseInt(strings.TrimSpace(string(content)), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", usageFile, err)
	}
	return time.Duration(nanoseconds), nil
}
