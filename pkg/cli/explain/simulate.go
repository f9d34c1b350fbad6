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

	configv1alpha1 "loadline.dev/loadline/apis/config/v1alpha1"
	"loadline.dev/loadline/pkg/cli/input"
	"loadline.dev/loadline/pkg/cli/verb"
	"loadline.dev/loadline/pkg/evaluate/explanation"
	"loadline.dev/loadline/pkg/text"
)

// runSimulation says where a pod that is not there yet would go.
func (x *explain) runSimulation(ctx context.Context, args []string) error {
	manifests, err := x.manifests(args)
	if err != nil {
		return err
	}
	applied, err := readApplied(manifests, x.streams)
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

// readApplied reads a workload, and the profiles beside it.
func readApplied(files *input.Files, streams verb.Streams) (*explanation.Manifests, error) {
	read, err := files.Read(streams, append(input.Workloads(), input.WorkloadProfile, input.NodeProfile, input.Namespace)...)
	if err != nil {
		return nil, err
	}
	if read.Skipped["Node"] > 0 {
		return nil, errors.New("there is a Node among the manifests: to ask files in place of a cluster, write explain --simulate MANIFEST -f CLUSTER")
	}
	if len(read.Workloads) != 1 {
		var names []string
		for i := range read.Workloads {
			names = append(names, read.Workloads[i].Name())
		}
		return nil, fmt.Errorf("--simulate is about one workload, such as a Pod or a Deployment, and the manifest has %d: %s", len(names), cmp.Or(text.Names(names), "none"))
	}
	return &explanation.Manifests{Workload: read.Workloads[0], Workloads: read.WorkloadProfiles, Classes: read.NodeProfiles, Namespaces: read.Namespaces}, nil
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
	namespace := cmp.Or(given, own)
	w.Pod.Namespace = cmp.Or(w.Pod.Namespace, namespace)
	for i := range applied.Workloads {
		p := &applied.Workloads[i]
		p.Namespace = cmp.Or(p.Namespace, namespace)
	}
	return nil
}

// verdict returns the answer no where no node fits, or limits would not hold.
func verdict(e *explanation.Answer) error {
	switch refused, busy := len(e.Simulation.Refused), len(e.Simulation.TooBusy); {
	case e.Simulation.Fits > 0:
	case refused+busy > 0:
		return verb.No(fmt.Errorf("no node takes the pod: %s", keptAway(refused, busy)))
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

// simulated says where a pod that is not there yet would go, and how it would run there.
func simulated(e *explanation.Answer) []string {
	s := e.Simulation
	name := e.Pod
	if !strings.HasPrefix(s.Workload, "pod/") {
		name = "A pod of " + s.Workload
	}
	switch refused, busy := len(s.Refused), len(s.TooBusy); {
	case s.Fits > 0:
	case refused+busy > 0:
		return append([]string{fmt.Sprintf("%s would wait: %s.", name, keptAway(refused, busy))}, roomLines(e)...)
	case len(s.Unknown) > 0:
		return []string{name + " is not known to fit any node."}
	default:
		return []string{name + " fits no node."}
	}
	where := fmt.Sprintf("%s would go to %s, the cheapest of %s that fit.", name, e.Node, text.Counted(s.Fits, "node"))
	switch {
	case s.Fits == 1:
		where = fmt.Sprintf("%s would go to %s, the only node that fits.", name, e.Node)
	case len(s.Ties) == s.Fits-1:
		where = fmt.Sprintf("%s would go to %s or any other of the %s that fit: all cost the same.", name, e.Node, text.Counted(s.Fits, "node"))
	case len(s.Ties) > 0:
		where += fmt.Sprintf(" Just as cheap: %s; the scheduler takes any of them.", text.Names(s.Ties))
	}
	why := "."
	if e.Nodes == nil {
		why = " (--nodes says why)."
	}
	if len(s.Refused) > 0 {
		where += fmt.Sprintf(" The scheduler's guard refuses %s", text.Names(s.Refused)) + why
	}
	if len(s.Unknown) > 0 {
		where += fmt.Sprintf(" Of %s it is not known whether it fits", text.Names(s.Unknown)) + why
	}
	if len(s.TooBusy) > 0 {
		where += " Too busy for now: " + text.Names(s.TooBusy) + why
	}
	if asFastAsAlone(e) {
		return []string{where, "There it would run as fast as alone."}
	}
	line := fmt.Sprintf("There it would run %s times slower than alone", slower(e))
	if because := because(e, behind(e)); len(because) > 0 {
		line += ", because of " + strings.Join(because, ", ")
	}
	return []string{where, line + "."}
}

// behind returns, by the name of a resource or device, the pod for which most of the waiting there is, " behind etl/sort-2".
func behind(e *explanation.Answer) map[string]string {
	most := map[string]explanation.Part{}
	for i := range e.Resources {
		r := &e.Resources[i]
		at := cmp.Or(r.Device, r.Name)
		for _, part := range r.Because {
			if part.Dilation > most[at].Dilation {
				most[at] = part
			}
		}
	}
	texts := map[string]string{}
	for at, part := range most {
		texts[at] = " behind " + part.Pod
		if part.Pod == e.Pod {
			texts[at] = " behind its own threads"
		}
	}
	return texts
}

// exceededLines say which limits would not hold.
func exceededLines(e *explanation.Answer, wide bool) (lines []string) {
	const shown = 4
	all := e.Simulation.Exceeded
	if e.MaxDilation != nil && e.Dilation != nil && *e.Dilation <= *e.MaxDilation {
		lines = append(lines, fmt.Sprintf("That is within its limit of %s.", limitText(*e.MaxDilation, e.MaxDilationReason)))
	}
	for i, x := range all {
		if i == shown && !wide {
			lines = append(lines, fmt.Sprintf("So would %d more pods (-o wide lists all).", len(all)-shown))
			break
		}
		line := fmt.Sprintf("%s would exceed its limit of %s: %s", x.Pod, limitText(x.MaxDilation, x.MaxDilationReason), text.Times(x.Dilation))
		switch {
		case x.Before == nil:
		case *x.Before > x.MaxDilation:
			line += fmt.Sprintf(", as it does already (now %s)", text.Times(*x.Before))
		default:
			line += fmt.Sprintf(" (now %s)", text.Times(*x.Before))
		}
		if x.GuardMode == configv1alpha1.GuardWarn {
			line += ", of which the scheduler's guard warns"
		}
		lines = append(lines, line+".")
	}
	return lines
}

// oneOf names the pods of a workload that the answer covers.
func oneOf(s *explanation.Simulation) []string {
	if s.Replicas == 1 {
		return nil
	}
	return []string{fmt.Sprintf("This is about the first of its %d pods; those that follow find it there.", s.Replicas)}
}
