package main

import (
	"errors"
	"path/filepath"

	"github.com/spf13/cobra"

	"loadline.dev/loadline/hack/cluster/dockerd"
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
			if dockerd.Available(ctx) {
				return runOn(ctx, endless{}, command, args)
			}
			dir, err := kindDir()
			if err != nil {
				return err
			}
			daemon, err := dockerd.Start(ctx, filepath.Join(dir, "docker"))
			if err != nil {
				return err
			}
			return errors.Join(runOn(ctx, daemon, command, args, daemon.Env()), daemon.Stop())
		},
	}
	command.Flags().SetInterspersed(false) // flags of the command are its own
	return command
}

// endless is a service that is not ours to watch.
type endless struct{}

func (endless) Done() <-chan struct{} { return nil }
func (endless) Err() error            { return nil }
