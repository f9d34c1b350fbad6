// Command loadline-scheduler is kube-scheduler with Loadline's plugins
// registered. It takes kube-scheduler's flags and configuration, in which the
// plugins are enabled by name.
package main

import (
	"os"

	"github.com/spf13/cobra"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"          // --logging-format=json
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // client metrics
	_ "k8s.io/component-base/metrics/prometheus/version"  // the version metric
	"k8s.io/kubernetes/cmd/kube-scheduler/app"

	"loadline.dev/loadline/pkg/plugins/dilation"
	"loadline.dev/loadline/pkg/plugins/slaorder"
)

const long = `loadline-scheduler is kube-scheduler with Loadline's plugins registered:

  Dilation   scores nodes by how much a pod and its neighbours would slow each
             other down there, as declared by WorkloadProfiles, and, if configured
             so, refuses nodes where one would be slowed down too much
  SLAOrder   orders the pods that wait by the response times that their
             WorkloadProfiles promise, in the place of PrioritySort

It takes the flags and the configuration of kube-scheduler. Run it beside the
default scheduler, for pods that name it in spec.schedulerName, or in its place.`

const example = `  # As a second scheduler, for pods with schedulerName: loadline
  loadline-scheduler --config scheduler.yaml

  # scheduler.yaml
  apiVersion: kubescheduler.config.k8s.io/v1
  kind: KubeSchedulerConfiguration
  leaderElection:
    resourceName: loadline-scheduler
  profiles:
  - schedulerName: loadline
    plugins:
      multiPoint:
        enabled: [{name: Dilation, weight: 10}]
      preScore:
        disabled: [{name: NodeResourcesFit}, {name: NodeResourcesBalancedAllocation}]
      score:
        disabled: [{name: NodeResourcesFit}, {name: NodeResourcesBalancedAllocation}]`

func main() {
	os.Exit(cli.Run(newCommand()))
}

func newCommand() *cobra.Command {
	command := app.NewSchedulerCommand(
		app.WithPlugin(dilation.Name, dilation.New),
		app.WithPlugin(slaorder.Name, slaorder.New),
	)
	command.Use = "loadline-scheduler"
	command.Long = long + "\n\nExamples:\n" + example // its help leaves out command.Example
	return command
}
