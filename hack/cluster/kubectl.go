package main

import (
	"os"
	"os/exec"
	"path/filepath"

	"github.com/spf13/cobra"

	"loadline.dev/loadline/hack/cluster/controlplane"
)

func newKubectl(root *cobra.Command, l *local) *cobra.Command {
	var other string
	root.Flags().StringVar(&other, "kubeconfig", "", "the kubeconfig `file` of another cluster for kubectl; it stands before the verb")
	return &cobra.Command{
		Use:   "kubectl ARGUMENT...",
		Short: "Run kubectl, of the default version, on the control plane that runs, or on another cluster",
		Example: `  # The nodes of the control plane that runs
  cluster kubectl get nodes

  # Those of another cluster
  cluster --kubeconfig out/kind.kubeconfig kubectl get nodes`,
		DisableFlagParsing: true, // what follows is kubectl's
		RunE: func(command *cobra.Command, args []string) error {
			kubeconfig := other
			if kubeconfig == "" {
				var err error
				if kubeconfig, err = l.kubeconfig(); err != nil {
					return err
				}
			}
			binaries, err := controlplane.NodeBinaries(command.Context(), "", command.ErrOrStderr())
			if err != nil {
				return err
			}
			cmd := exec.CommandContext(command.Context(), filepath.Join(binaries, "kubectl"), args...)
			cmd.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig)
			cmd.Stdin, cmd.Stdout, cmd.Stderr = command.InOrStdin(), command.OutOrStdout(), command.ErrOrStderr()
			return cmd.Run()
		},
	}
}
