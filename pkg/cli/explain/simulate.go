package explain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadline.dev/loadline/pkg/cli/input"
	"loadline.dev/loadline/pkg/cli/verb"
	"loadline.dev/loadline/pkg/evaluate/explanation"
	"loadline.dev/loadline/pkg/report/explained"
	"loadline.dev/loadline/pkg/text"
)

// runSimulation says where a pod that is not there yet would go.
func (x *explain) runSimulation(ctx context.Context, args []string) error {
	manifests, err := x.manifests(args)
	if err != nil {
		return err
	}
	applied, err := manifests.Applied(x.streams)
	if err != nil {
		return err
	}
	weights, err := x.weights.Options()
	if err != nil {
		return err
	}
	gather := x.simulateInCluster
	if len(args) > 0 && len(x.files.Paths) > 0 {
		gather = x.simulateInFiles
	}
	in, err := gather(ctx, applied)
	if err != nil {
		return err
	}
	in.Ranked, in.Weights = x.nodes, weights
	var e *explanation.Answer
	err = verb.Abandon(ctx, func() (err error) {
		e, err = explanation.Simulate(in, applied)
		return err
	})
	if err != nil {
		return err
	}
	if err := x.output.Print(x.streams.Out, e, func(p *verb.Page) error { return printAnswer(p, e, time.Now()) }); err != nil {
		return err
	}
	return verdict(e)
}

// manifests returns the files with the manifests to apply. The error says how the command is used.
func (x *explain) manifests(args []string) (*input.Files, error) {
	const write = "write explain --simulate -f MANIFEST, or explain --simulate MANIFEST -f CLUSTER"
	switch {
	case len(x.changes) > 0:
		return nil, errors.New("--what-if is about a pod that is there: with --simulate change the manifest")
	case len(args) > 1:
		return nil, fmt.Errorf("--simulate takes the manifest of a pod, not %q: %s", strings.Join(args, " "), write)
	case len(args) == 1 && args[0] == "-" && slices.Contains(x.files.Paths, "-"):
		return nil, errors.New("standard input cannot be both the manifest and the cluster")
	case len(args) == 1:
		return &input.Files{Paths: args, Recursive: x.files.Recursive, For: "explain --simulate"}, nil
	case len(x.files.Paths) == 0:
		return nil, errors.New("name the manifest of the pod: " + write)
	default:
		return &x.files, nil
	}
}

// simulateInCluster reads the cluster.
func (x *explain) simulateInCluster(ctx context.Context, applied *explanation.Manifests) (*explanation.Input, error) {
	c, own, err := x.cluster.Connect(x.streams.Err)
	if err != nil {
		return nil, err
	}
	if err := x.setNamespace(applied, own); err != nil {
		return nil, err
	}
	in := &explanation.Input{Pod: &applied.Workload.Pod}
	if err := readAllNodes(ctx, c, in); err != nil {
		return nil, err
	}
	if err := x.readFeasibility(ctx, c, in); err != nil {
		return nil, err
	}
	return in, x.readSettings(ctx, c, own, in, applied.Workloads)
}

// simulateInFiles reads files in place of a cluster.
func (x *explain) simulateInFiles(ctx context.Context, applied *explanation.Manifests) (*explanation.Input, error) {
	if err := x.setNamespace(applied, metav1.NamespaceDefault); err != nil {
		return nil, err
	}
	in, err := x.readFiles()
	if err != nil {
		return nil, err
	}
	in.Pod = &applied.Workload.Pod
	return in, x.readRules(ctx, nil, "", in)
}

// setNamespace gives manifests without a namespace that of -n, else own, as kubectl apply does. The error is about a
// workload of another namespace than that of -n.
func (x *explain) setNamespace(applied *explanation.Manifests, own string) error {
	given := x.cluster.Namespace()
	w := &applied.Workload
	if given != "" && w.Pod.Namespace != "" && w.Pod.Namespace != given {
		return fmt.Errorf("%s: metadata.namespace: %q is not the namespace of -n, %q", w.Name(), w.Pod.Namespace, given)
	}
	input.SetNamespace(applied, cmp.Or(given, own))
	return nil
}

// verdict returns the answer no where no node fits, or limits would not hold.
func verdict(e *explanation.Answer) error {
	switch refused, busy := len(e.Simulation.Refused), len(e.Simulation.TooBusy); {
	case e.Simulation.Fits > 0:
	case refused+busy > 0:
		return verb.No(fmt.Errorf("no node takes the pod: %s", explained.KeptAway(refused, busy)))
	case len(e.Simulation.Unknown) > 0:
		return verb.No(errors.New("no node is known to fit"))
	default:
		return verb.No(errors.New("no node fits"))
	}
	var pods []string
	for _, x := range e.Simulation.Exceeded {
		pods = append(pods, x.Pod)
	}
	if len(pods) == 0 {
		return nil
	}
	return verb.No(fmt.Errorf("%s of dilation would not hold: of %s", verb.Counted(len(pods), "limit", "limits"), text.Names(pods)))
}
