package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/spf13/cobra"

	"loadline.dev/loadline/hack/cluster/controlplane"
)

func newRun(l *local) *cobra.Command {
	s := &startup{local: l}
	command := &cobra.Command{
		Use:   "run [FLAGS] COMMAND...",
		Short: "Run a control plane for as long as a command runs, with KUBECONFIG set for it",
		Example: `  # A shell on two real nodes, as root
  cluster run --real-nodes 2 bash`,
		Args: s.check(needCommand),
		RunE: func(command *cobra.Command, args []string) error {
			s.log = command.ErrOrStderr()
			return s.start(command.Context(), func(ctx context.Context, plane *controlplane.ControlPlane) error {
				return runOn(ctx, plane, command, args, "KUBECONFIG="+plane.Kubeconfig())
			})
		},
	}
	s.addFlags(command)
	command.Flags().SetInterspersed(false) // flags of the command are its own
	return command
}

// needCommand refuses a command line that ends where a command should stand.
func needCommand(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return errors.New("run what? Name a command")
	}
	return nil
}

// service is what a program is run with, and cannot go on without.
type service interface {
	Done() <-chan struct{} // closed when it has ended
	Err() error            // why it ended by itself; it must have ended
}

// runOn runs a program, with more in its environment, until it has ended, ctx ends or the service crashes. A program that does
// not end well is an error.
func runOn(ctx context.Context, on service, verb *cobra.Command, args []string, env ...string) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-on.Done():
			cancel(on.Err())
		case <-ctx.Done():
		}
	}()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 30 * time.Second
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = verb.InOrStdin(), verb.OutOrStdout(), verb.ErrOrStderr()
	err := cmd.Run()
	if cause := context.Cause(ctx); cause != nil {
		return errors.Join(cause, err)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	return nil
}
