// Package explain is the verb explain: it gathers the objects that concern the place of a pod, from
// a cluster or files, has package explanation explain it, and prints the answer.
package explain

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/pkg/cli/access"
	"loadline.dev/loadline/pkg/cli/input"
	"loadline.dev/loadline/pkg/cli/verb"
	"loadline.dev/loadline/pkg/evaluate/explanation"
)

// explain holds the flags of the verb explain.
type explain struct {
	streams   verb.Streams
	files     input.Files
	scheduler string
	nodes     bool
	simulate  bool
	changes   []string
	weights   verb.Weights
	cluster   access.Flags
	output    verb.Output
}

// New returns the command.
func New(streams verb.Streams) *cobra.Command {
	x := &explain{streams: streams}
	command := &cobra.Command{
		Use:   "explain (pod [NAMESPACE/]NAME | --simulate -f MANIFEST)",
		Short: "Explain how fast a pod runs where it is, or would run, and what other nodes would cost",
		Long: `explain says how much slower than alone a pod runs on its node, at which resources
it waits, because of whom, and whom it makes wait. With --nodes, or for a pod that
waits for a node, it ranks the nodes of the cluster by what the pod would cost there:
the dilation that it would add to itself and to its neighbours, as the scheduler
plugin reckons it. Of the nodes it says which do not fit, in the words of kube-scheduler's
filters, and of which that is not known, such as without the PersistentVolume of a claim.
Static pods and those of DaemonSets stay on their nodes. It says which nodes the
scheduler's guard refuses, or warns of, by guard.mode of the scheduler's configuration and
the label loadline.dev/guard of namespaces, and on which the pod would be slowed down so
much that the scheduler lets it wait, by hold of the same configuration. How much a pod may
be slowed down is what its profile says, as far as limits of that configuration let it
count and its CPU request covers the processors that it can use.

It says what CPU requests and limits do: they are weights and quotas, as the kubelet
makes control groups of them. --what-if asks what another request or limit of the pod
would do, or which request it takes to keep it below a dilation. What nodes would cost
is reckoned as the scheduler does. Where there are no profiles, "share --node" answers
from how much CPU the containers use.

Pods without a WorkloadProfile count by their requests, as the configuration of the
scheduler in the cluster says, or that of --scheduler, or as is the default.

It reads the cluster, or files with pods, nodes, namespaces, what belongs to volumes, and
profiles, as kubectl get prints them.

With --simulate it says, before a pod is created, which node the scheduler would
choose by these costs, how fast the pod would run there, whom it would slow, and which
limits of dilation would not hold. -f is then the manifest of the pod, or of a
Deployment, StatefulSet, ReplicaSet, Job or CronJob, as kubectl apply takes it, with
WorkloadProfiles and NodeProfiles beside it if they are new, too. To ask files in place
of a cluster, give the manifest as argument, and the files by -f. Nothing is created.
The exit code is 1 if no node takes the pod, or if a limit would not hold.`,
		Example: `  # Who slows this pod, and whom does it slow?
  kubectl loadline explain pod filecomp-7 -n etl

  # Would it be better off elsewhere?
  kubectl loadline explain pod etl/filecomp-7 --nodes

  # What if it requested more? Which request keeps it below 1.5 times?
  kubectl loadline explain pod etl/filecomp-7 --what-if request=300m
  kubectl loadline explain pod etl/filecomp-7 --what-if dilation=1.5

  # Where would it go, and whom would it slow? Before it is created
  kubectl loadline explain --simulate -f pod.yaml
  kubectl loadline explain --simulate -f pod.yaml -n etl --nodes

  # Both from files, where there is no cluster
  kubectl get pods,nodes,namespaces,pvc,pv,storageclasses,csinodes,workloadprofiles,nodeprofiles -A -o yaml > cluster.yaml
  kubectl loadline explain pod etl/filecomp-7 -f cluster.yaml --nodes
  kubectl loadline explain --simulate pod.yaml -f cluster.yaml`,
		Args:              cobra.ArbitraryArgs, // named checks them
		ValidArgsFunction: verb.Begun(x.complete),
		RunE:              func(command *cobra.Command, args []string) error { return x.run(command.Context(), args) },
	}
	flags := command.Flags()
	x.files.Add(command, "explain", "pods, nodes, namespaces and profiles, in place of a cluster; - for standard input; may be repeated. With --simulate and no argument, the manifest")
	flags.BoolVar(&x.simulate, "simulate", false, "say where a pod that is not there yet would go, and what that would do")
	flags.BoolVar(&x.nodes, "nodes", false, "rank the nodes by what the pod would cost there")
	flags.StringVar(&x.scheduler, "scheduler", "", "file with the scheduler's configuration (default that in the cluster)")
	flags.StringSliceVar(&x.changes, "what-if", nil, "another CPU request or limit of the pod, as request=CPU or limit=CPU, 0 for none; or dilation=TIMES, for the smallest request that keeps it below; may be repeated")
	x.weights.Add(command)
	verb.Complete(command, "what-if", cobra.FixedCompletions([]string{"request=", "limit=", "dilation="}, cobra.ShellCompDirectiveNoFileComp|cobra.ShellCompDirectiveNoSpace))
	x.cluster.Add(command, "namespace of the pod (default that of the context)")
	x.output.AddWide(command)
	return command
}

// podKinds are what kubectl calls pods.
var podKinds = []string{"pod", "pods", "po"}

// named returns which pod is meant; the namespace is empty where it does not say.
func named(args []string) (namespace, name string, err error) {
	const write = "write explain pod NAME, or explain pod NAMESPACE/NAME"
	if len(args) == 1 {
		kind, rest, _ := strings.Cut(args[0], "/") // pod/NAME
		args = []string{kind, rest}
	}
	if len(args) != 2 || args[1] == "" {
		return "", "", errors.New("name a pod: " + write)
	}
	if !slices.Contains(podKinds, args[0]) {
		return "", "", fmt.Errorf("%q is not explained, only pods are: %s", args[0], write)
	}
	if namespace, name, qualified := strings.Cut(args[1], "/"); qualified {
		return namespace, name, nil
	}
	return "", args[1], nil
}

// complete completes the arguments: pod, and the names of pods.
func (x *explain) complete(command *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	switch {
	case x.simulate:
		return nil, cobra.ShellCompDirectiveDefault
	case len(args) == 0:
		return podKinds[:1], cobra.ShellCompDirectiveNoFileComp
	case len(args) == 1:
		return x.cluster.Names(func() client.ObjectList { return &corev1.PodList{} })(command, args, typed)
	default:
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
}

func (x *explain) run(ctx context.Context, args []string) error {
	if x.simulate {
		return x.runSimulation(ctx, args)
	}
	namespace, name, err := named(args)
	if err != nil {
		return err
	}
	change, err := parseWhatIf(x.changes)
	if err != nil {
		return err
	}
	weights, err := x.weights.Options()
	if err != nil {
		return err
	}
	g := &gatherer{explain: x, namespace: namespace, name: name}
	gather := g.fromCluster
	if len(x.files.Paths) > 0 {
		gather = g.fromFiles
	}
	in, err := gather(ctx)
	if err != nil {
		return err
	}
	in.WhatIf, in.Weights = change, weights
	var e *explanation.Answer
	err = verb.Abandon(ctx, func() (err error) {
		e, err = explanation.OfPod(in)
		return err
	})
	if err != nil {
		return err
	}
	return x.output.Print(x.streams.Out, e, func(p *verb.Page) error { return printAnswer(p, e, time.Now()) })
}
