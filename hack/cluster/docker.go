package main

import (
	"os/exec"

	"github.com/spf13/cobra"
)

func newDocker() *cobra.Command {
	command := &cobra.Command{
		Use:   "docker COMMAND...",
		Short: "Run a command with a Docker daemon, which is started for it if none runs",
		Example: `  # A shell to try things
  cluster docker bash`,
		Args: needCommand,
		RunE: func(command *cobra.Command, args []string) error {
			ctx := command.Context()
			if exec.CommandContext(ctx, "docker", "info").Run() == nil {
				return runOn(ctx, endless{}, command, args)
			}
			return runWithDaemon(ctx, command, args)
		},
	}
	command.Flags().SetInterspersed(false) // flags of the command are its own
	return command
}

// endless is a service that is not ours to watch.
type endless struct{}

func (endless) Done() <-chan struct{} { return nil }
func (endless) Err() error            { return nil }
