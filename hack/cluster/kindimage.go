package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
)

func newKindImage() *cobra.Command {
	var mirror string
	command := &cobra.Command{
		Use:   "kind-image",
		Short: "Make an image of nodes of kind, if need be, and print the path of its archive",
		Example: `  # As root on Debian; Docker takes it
  docker load --input "$(cluster kind-image)"`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			dir, err := kindDir()
			if err != nil {
				return err
			}
			archive, err := kindArchive(command.Context(), dir, mirror, command.ErrOrStderr())
			if err == nil {
				fmt.Fprintln(command.OutOrStdout(), archive)
			}
			return err
		},
	}
	command.Flags().StringVar(&mirror, "debian-mirror", "", "the `address` of a mirror of Debian (default that of this machine's apt)")
	return command
}

// kindDir is the folder, in the user's cache, of what nodes of kind are made of, and of the Docker daemon that runs them.
func kindDir() (string, error) {
	cache, err := os.UserCacheDir()
	return filepath.Join(cache, "loadline", "kind"), err
}
