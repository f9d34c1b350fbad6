package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"loadline.dev/loadline/hack/cluster/controlplane"
)

func newKubeconfig(l *local) *cobra.Command {
	return &cobra.Command{
		Use:   "kubeconfig",
		Short: "Print the path of the kubeconfig file of the control plane that runs",
		Example: `  # Have kubectl use it
  export KUBECONFIG=$(cluster kubeconfig)`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			path, err := l.kubeconfig()
			if err == nil {
				fmt.Fprintln(command.OutOrStdout(), path)
			}
			return err
		},
	}
}

// kubeconfig returns the path of the kubeconfig file of the control plane that runs, whichever process runs it.
func (l *local) kubeconfig() (string, error) {
	instance, err := controlplane.Find(l.dir)
	if err != nil {
		return "", err
	}
	if instance.Kubeconfig == "" {
		return "", fmt.Errorf("%s: the control plane is still starting", l.dir)
	}
	return instance.Kubeconfig, nil
}
