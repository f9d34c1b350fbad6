// Command loadline-gauge reads the kernel's accounting of its node every few seconds: how long the tasks of each pod ran,
// waited for a processor, were throttled and were blocked. It shows that to those who may read it, and to Prometheus.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/component-base/cli"
	logsapi "k8s.io/component-base/logs/api/v1"
	_ "k8s.io/component-base/logs/json/register" // --logging-format=json
	"k8s.io/component-base/version/verflag"

	"loadline.dev/loadline/pkg/gauge/usage"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the command at once
	command := newCommand()
	command.SetContext(ctx)
	os.Exit(cli.Run(command))
}

// options are the flags.
type options struct {
	node
	interval        time.Duration
	keep            int
	maxPods         int
	bindAddress     string
	healthAddress   string
	audience        string
	certificateFile string
	keyFile         string
	kubeconfig      string
	logs            *logsapi.LoggingConfiguration
}

func newCommand() *cobra.Command {
	o := options{logs: logsapi.NewLoggingConfiguration()}
	command := &cobra.Command{
		Use:   "loadline-gauge",
		Short: "Observe how the pods of a node share it",
		Long: `loadline-gauge reads the kernel's accounting of its node every few seconds: how long the
tasks of each pod ran, waited for a processor, were throttled by their limit and were
blocked by block I/O. It runs on every node, without any privilege but to see the
node's processes, and serves by HTTPS

  /v1/usage?last=N   the last N intervals in JSON, the oldest first
  /metrics           metrics for Prometheus

to those who may "get" these non-resource URLs. For /v1/usage they send a token for the
audience of --audience, in the header Loadline-Token by way of the API server's proxy.
By HTTP, on a port of its own that others cannot fill, it tells the kubelet

  /healthz, /readyz  whether it runs, and whether what it has is new`,
		Example: `  # In a pod of a DaemonSet
  loadline-gauge --node-name $(NODE_NAME)

  # More often, for the last 5 minutes
  loadline-gauge --interval 2s --keep 150

  # On a node, without a cluster: what happens in 5 seconds
  loadline-gauge once --interval 5s`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			verflag.PrintAndExitIfRequested()
			if err := o.validate(); err != nil {
				return err
			}
			return o.run(command.Context())
		},
	}
	flags := command.Flags()
	o.addTo(flags)
	flags.DurationVar(&o.interval, "interval", 10*time.Second, "How often to read, from 1s to 5m.")
	flags.IntVar(&o.keep, "keep", 60, "How many intervals to keep in memory, from 1 to 1000, if they take no more than 16 MiB.")
	flags.IntVar(&o.maxPods, "max-pods", 250, "How many pods have time series of their own in the metrics, from 1 to 1000: those that wait most. The others share one.")
	flags.StringVar(&o.bindAddress, "bind-address", ":"+usage.Port, "Address to serve on by HTTPS, as HOST:PORT.")
	flags.StringVar(&o.healthAddress, "health-probe-bind-address", ":8081", "Address to serve /healthz and /readyz on by HTTP, as HOST:PORT, or 0 for none.")
	flags.StringVar(&o.audience, "audience", usage.Audience, "Audience that tokens for "+usage.Path+" must have. Empty for that of the API server.")
	flags.StringVar(&o.certificateFile, "tls-cert-file", "", "PEM file of the certificate to show, which may be replaced meanwhile. Defaults to one that is made in memory.")
	flags.StringVar(&o.keyFile, "tls-private-key-file", "", "PEM file of the private key of --tls-cert-file.")
	flags.StringVar(&o.kubeconfig, "kubeconfig", "", "Path of a kubeconfig file for the API server that is asked about tokens. Defaults to the service account in a cluster.")
	logsapi.AddFlags(o.logs, flags)
	verflag.AddFlags(flags)
	command.AddCommand(newOnce())
	return command
}

// Bounds of the flags. An interval of 250 pods has about 200 kB, and history.MaxBytes bounds all of them.
const (
	minInterval, maxInterval = time.Second, 5 * time.Minute
	maxKeep, maxPods         = 1000, 1000
)

// validate returns an error that names the first flag with a value out of its bounds.
func (o *options) validate() error {
	switch {
	case o.interval < minInterval || o.interval > maxInterval:
		return fmt.Errorf("--interval: %s is not from 1s to 5m", o.interval)
	case o.keep < 1 || o.keep > maxKeep:
		return fmt.Errorf("--keep: %d is not from 1 to %d", o.keep, maxKeep)
	case o.maxPods < 1 || o.maxPods > maxPods:
		return fmt.Errorf("--max-pods: %d is not from 1 to %d", o.maxPods, maxPods)
	case (o.certificateFile == "") != (o.keyFile == ""):
		return fmt.Errorf("--tls-cert-file and --tls-private-key-file: give both or none")
	}
	return nil
}
