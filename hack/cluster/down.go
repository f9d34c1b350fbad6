package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"

	"github.com/spf13/cobra"

	"loadline.dev/loadline/hack/cluster/controlplane"
)

func newDown(l *local) *cobra.Command {
	return &cobra.Command{
		Use:   "down",
		Short: "Stop the control plane from another terminal, and wait until it is gone",
		Example: `  # The control plane that cluster up runs
  cluster down`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			if err := l.stop(command.Context(), command.ErrOrStderr()); err != nil {
				return err
			}
			return l.cleanNodes(command.Context())
		},
	}
}

// stop stops the control plane, if one runs, and returns when it is gone.
func (l *local) stop(ctx context.Context, log io.Writer) error {
	instance, err := controlplane.Find(l.dir)
	if errors.Is(err, controlplane.ErrNotRunning) {
		fmt.Fprintln(log, err)
		return nil
	}
	if err != nil {
		return err
	}
	if err := syscall.Kill(instance.PID, syscall.SIGTERM); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("stop process %d: %w", instance.PID, err)
	}
	return instance.AwaitEnd(ctx)
}
