package main

import (
	"errors"

	"github.com/spf13/cobra"

	"loadline.dev/loadline/hack/cluster/image/sbom"
)

func newSbom() *cobra.Command {
	return &cobra.Command{
		Use:   "sbom PROGRAM FILE",
		Short: "Write what a program, for any platform, is made of: its bill of materials",
		Example: `  # As CycloneDX, in JSON
  cluster sbom bin/loadline-manager sbom.json`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return errors.New("sbom takes a program and a file to write, such as bin/loadline-manager sbom.json")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return sbom.WriteFile(args[1], args[0]) },
	}
}
