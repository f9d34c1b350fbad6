package main

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/spf13/cobra"
)

// newOnce returns the command that needs no cluster.
func newOnce() *cobra.Command {
	var (
		n        node
		interval time.Duration
	)
	command := &cobra.Command{
		Use:   "once",
		Short: "Print one interval of this node, without a cluster",
		Long: `Reads the accounting of this node twice, and prints what happened between in JSON. It
needs neither a cluster nor rights in one. At SIGTERM it reads at once.`,
		Example: `  # What happens in 2 seconds
  loadline-gauge once

  # In a minute, without the names of pods
  loadline-gauge once --interval 1m --pod-logs ""`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			if interval <= 0 {
				return fmt.Errorf("--interval: %s is not above 0", interval)
			}
			var unnamed error
			sample, err := n.sampler(func(err error) { unnamed = err })
			if err != nil {
				return err
			}
			over := time.NewTimer(interval)
			defer over.Stop()
			select {
			case <-over.C:
			case <-command.Context().Done():
			}
			v, err := sample(command.Context())
			if err != nil {
				return err
			}
			if unnamed != nil {
				command.PrintErrln("Warning:", unnamed)
			}
			encoder := json.NewEncoder(command.OutOrStdout())
			encoder.SetIndent("", "  ")
			return encoder.Encode(v)
		},
	}
	n.addTo(command.Flags())
	command.Flags().DurationVar(&interval, "interval", 2*time.Second, "How long to wait between the two readings.")
	return command
}
