package main

import (
	"net"
	"time"

	"github.com/spf13/cobra"

	"loadline.dev/loadline/pkg/probe"
	"loadline.dev/loadline/pkg/probe/result"
)

func newSink() *cobra.Command {
	var (
		listen   string
		megabits float64
	)
	command := &cobra.Command{
		Use:   "sink",
		Short: "Be the other end of the network job",
		Long: `Takes what network jobs send, and acknowledges every block, until a signal ends it. With
--megabits it is a service of that throughput: it takes one block after the other, in
the order of their coming, and hardly any of that takes time of a CPU.`,
		Example: `  # Wait for network jobs
  loadline-probe sink --listen :7077

  # Only from this machine
  loadline-probe sink --listen 127.0.0.1:7077

  # A block of 64 KiB takes 10 ms, or longer where others have come before it
  loadline-probe sink --megabits 52`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			listener, err := new(net.ListenConfig).Listen(command.Context(), "tcp", listen)
			if err != nil {
				return err
			}
			command.PrintErrln("listening on", listener.Addr())
			return probe.Sink(command.Context(), listener, megabits)
		},
	}
	command.Flags().StringVar(&listen, "listen", ":7077", "Address to listen on, as HOST:PORT.")
	command.Flags().Float64Var(&megabits, "megabits", 0, "How many million bits to take a second, at most, from 0.01. 0 is as many as come.")
	return command
}

func newWatch() *cobra.Command {
	var (
		to destination
		o  probe.WatchOptions
	)
	command := &cobra.Command{
		Use:   "watch",
		Short: "Observe the other containers of the pod",
		Long: `Observes the containers of its pod that start after it: when the first started and the
last ended, how long their threads ran and how long they waited for a CPU. It is for the
last sidecar of a pod with shareProcessNamespace. It writes what it knows when the last
container has ended, and when a signal asks it to end, which it waits for.`,
		Example: `  # In a sidecar
  loadline-probe watch

  # Look less often, for containers of many threads
  loadline-probe watch --interval 50ms`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			o.Ended = func(found result.Watch) error {
				encoded, err := result.Encode(found)
				if err != nil || to.path == "" {
					return err
				}
				return to.write(command, encoded)
			}
			return reporting(command, &to, func() (result.Watch, error) { return probe.Watch(command.Context(), o) })
		},
	}
	command.Flags().DurationVar(&o.Interval, "interval", 10*time.Millisecond, "How often to look, from 1ms to 1s.")
	to.addTo(command)
	return command
}
