package process

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// start starts a shell with a script, which ends with the test.
func start(t *testing.T, script string) *Process {
	t.Helper()
	p, err := Start(Spec{Name: "part", Path: "/bin/sh", Args: []string{"-c", script}, Log: filepath.Join(t.TempDir(), "part.log")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Kill(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func TestAProcessIsReadyWhenItSaysSo(t *testing.T) {
	t.Parallel()
	asked := 0
	err := start(t, "exec sleep 60").AwaitReady(t.Context(), time.Minute, func(context.Context) error {
		if asked++; asked < 3 {
			return errors.New("not yet")
		}
		return nil
	})
	if err != nil || asked != 3 {
		t.Errorf("asked %d times, %v", asked, err)
	}
}

func TestAProcessThatHasEndedIsNotReady(t *testing.T) {
	t.Parallel()
	p := start(t, "echo last words")
	<-p.Exited()
	err := p.AwaitReady(t.Context(), time.Minute, func(context.Context) error { return nil }) // another answers in its place
	if err == nil || !strings.Contains(err.Error(), "part ended by itself") || !strings.Contains(err.Error(), "last words") {
		t.Errorf("got %v", err)
	}
}

func TestTheErrorSaysWhatKeptAProcessFromBeingReady(t *testing.T) {
	t.Parallel()
	p := start(t, "exec sleep 60")
	ctx, cancel := context.WithCancelCause(t.Context())
	err := p.AwaitReady(ctx, time.Minute, func(context.Context) error {
		cancel(errors.New("the user has gone"))
		return errors.New("not yet")
	})
	if err == nil || err.Error() != "while part was starting: the user has gone" {
		t.Errorf("when the context ends: %v", err)
	}
	err = p.AwaitReady(t.Context(), time.Millisecond, func(context.Context) error { return errors.New("not yet") })
	if err == nil || !strings.Contains(err.Error(), "part was not ready within 1ms: not yet") {
		t.Errorf("when the time is over: %v", err)
	}
}
