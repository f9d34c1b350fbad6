package share

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/pkg/cgroup"
	"loadline.dev/loadline/pkg/cli/access"
	"loadline.dev/loadline/pkg/cli/verb"
	"loadline.dev/loadline/pkg/evaluate/shares"
	"loadline.dev/loadline/pkg/report"
	"loadline.dev/loadline/pkg/report/chart"
)

// nodeFlags holds the flags of the verb share that are about a node.
type nodeFlags struct {
	name    string
	pods    []string
	usage   string
	cores   int
	weights string
	flags   verb.Weights
	cluster access.Flags
}

// weightsAuto is the value of a flag that goes by the node's status.
const weightsAuto = "auto"

func (n *nodeFlags) add(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVar(&n.name, "node", "", "show the shares of the pods on this node")
	flags.StringSliceVar(&n.pods, "pods", nil, "file or folder with pods, and the node that they are on, in place of a cluster; - for standard input; may be repeated")
	flags.StringVar(&n.usage, "usage", "", "file with how much CPU containers use, as lines of NAMESPACE/POD,CONTAINER,CPU below the header pod,container,cpu (default what the metrics API says)")
	flags.IntVar(&n.cores, "cores", 0, "how many cores the node has (default its own)")
	flags.StringVar(&n.weights, "container-weights", weightsAuto, "how the runtime makes weights of the shares of containers: linear (runc before 1.3.2, crun before 1.23), log (newer ones), or auto, as the node's status tells")
	n.flags.Add(command)
	n.cluster.Add(command, "")
	verb.Complete(command, "node", n.cluster.Names(func() client.ObjectList { return &corev1.NodeList{} }))
	verb.Complete(command, "container-weights", verb.OneOf([]string{weightsAuto, cgroup.Linear.String(), cgroup.Logarithmic.String()}))
}

func (n *nodeFlags) asked() bool { return n.name != "" || len(n.pods) > 0 }

// alone refuses flags that are about a node, without one.
func (n *nodeFlags) alone() error {
	if n.usage != "" || n.cores != 0 {
		return errors.New("--usage and --cores are about a node: name one, --node worker-3, or give its pods, --pods pods.yaml")
	}
	return nil
}

// options says how shares become weights on a node, and why.
func (n *nodeFlags) options(node *corev1.Node) (options cgroup.Options, why string, err error) {
	if options, err = n.flags.Options(); err != nil || n.flags.IsV1() {
		return options, "cgroup v1", err
	}
	switch n.weights {
	case cgroup.Linear.String():
		options.Containers = cgroup.Linear
		return options, "", nil
	case cgroup.Logarithmic.String():
		options.Containers = cgroup.Logarithmic
		return options, "", nil
	case weightsAuto:
		options.Containers, why = cgroup.Detect(node)
		return options, why + "; --container-weights says otherwise", nil
	default:
		return options, "", fmt.Errorf("--container-weights: %q is not one of auto, linear, log", n.weights)
	}
}

// nodeReport is the JSON and YAML output.
type nodeReport struct {
	*shares.NodeAnswer
	// ElapsedSeconds is how long the computation took.
	ElapsedSeconds float64 `json:"elapsedSeconds"`
}

// runNode answers for the pods of a node.
func (s *share) runNode(ctx context.Context) error {
	if len(s.files.Paths) > 0 || s.compare {
		return errors.New("-f and --compare are about a ShareTree: leave them out with --node and --pods")
	}
	in := shares.NodeInput{Options: s.options}
	for _, text := range s.sets {
		change, err := parseRequest(text)
		if err != nil {
			return fmt.Errorf("--set %s: %w", text, err)
		}
		in.Requests = append(in.Requests, change)
	}
	node, err := s.gather(ctx, &in)
	if err != nil {
		return err
	}
	in.Node = node.Name
	if in.Cores = s.node.cores; in.Cores == 0 {
		if in.Cores, err = coresOf(node); err != nil {
			return err
		}
	}
	var why string
	if in.Weights, why, err = s.node.options(node); err != nil {
		return err
	}
	start := time.Now()
	answer, err := shares.OfNode(ctx, in)
	elapsed := time.Since(start)
	if err != nil {
		return s.explain(ctx, err)
	}
	if s.plot != "" {
		if err := chart.WriteFile(s.plot, report.ShareChart(answer.TreeAnswer, "CPU weights of pods, and the response times that they give")); err != nil {
			return err
		}
	}
	return s.output.Print(s.streams.Out, nodeReport{answer, elapsed.Seconds()}, func(p *verb.Page) error {
		return printNode(p, answer, elapsed, why)
	})
}

// gather finds the node, its pods and their usage, in files or in the cluster.
func (s *share) gather(ctx context.Context, in *shares.NodeInput) (*corev1.Node, error) {
	var node *corev1.Node
	var err error
	if len(s.node.pods) > 0 {
		if s.node.usage == "" {
			return nil, errors.New("say how much CPU the containers use: --usage usage.csv, with the header pod,container,cpu")
		}
		node, in.Pods, err = s.readNode()
		if err != nil {
			return nil, err
		}
	} else {
		c, _, err := s.node.cluster.Connect(s.streams.Err)
		if err != nil {
			return nil, err
		}
		if node, in.Pods, err = podsOfNode(ctx, c, s.node.name); err != nil {
			return nil, err
		}
		if s.node.usage == "" {
			in.Usage, err = usageOfPods(ctx, c, in.Pods)
			return node, err
		}
	}
	in.Usage, err = readUsage(s.node.usage, in.Pods)
	return node, err
}

// coresOf returns how many cores a node has.
func coresOf(node *corev1.Node) (int, error) {
	cpu, known := node.Status.Capacity[corev1.ResourceCPU]
	if !known {
		cpu, known = node.Status.Allocatable[corev1.ResourceCPU]
	}
	if !known {
		return 0, errors.New("how many cores the node has is not known: add the Node to the file of --pods, or say it, --cores 8")
	}
	return max(1, int(cpu.MilliValue()/1000)), nil
}

// parseRequest reads NAMESPACE/POD[/CONTAINER]=CPU, or POD=CPU.
func parseRequest(text string) (shares.RequestChange, error) {
	name, value, err := verb.Pair(text, "shop/cart-0=500m")
	if err != nil {
		return shares.RequestChange{}, err
	}
	cpu, err := verb.Number(value, "500m or 2")
	if err != nil {
		return shares.RequestChange{}, err
	}
	change := shares.RequestChange{Pod: name, CPU: *cpu}
	if parts := strings.SplitN(name, "/", 3); len(parts) == 3 {
		change.Pod, change.Container = parts[0]+"/"+parts[1], parts[2]
	}
	return change, nil
}

// printNode prints the answer for people.
func printNode(p *verb.Page, a *shares.NodeAnswer, elapsed time.Duration, why string) error {
	if err := p.Table(report.NodeSharesTable(a)); err != nil {
		return err
	}
	return p.Lines(report.NodeSharesSummary(a, elapsed, why)...)
}
