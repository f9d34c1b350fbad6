package main

import (
	"github.com/spf13/cobra"

	"loadline.dev/loadline/hack/cluster/controlplane"
	"loadline.dev/loadline/hack/cluster/kindcluster"
)

func newKindConfig() *cobra.Command {
	return &cobra.Command{
		Use:   "kind-config",
		Short: "Print the configuration of a cluster of kind, for the machine that Docker runs on",
		Example: `  # A cluster whose workers have a processor each
  kind create cluster --config <(cluster kind-config)`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			module, err := controlplane.ModuleFolder(command.Context())
			if err != nil {
				return err
			}
			config, err := kindcluster.ConfigForDocker(command.Context(), module)
			if err != nil {
				return err
			}
			_, err = command.OutOrStdout().Write(config)
			return err
		},
	}
}
