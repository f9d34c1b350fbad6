// Package share is the verb share: package shares computes the results of the shares of a
// ShareTree, or of the pods of a node, and the verb prints and draws the answer.
package share

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/cli/input"
	"loadline.dev/loadline/pkg/cli/verb"
	"loadline.dev/loadline/pkg/evaluate/shares"
	"loadline.dev/loadline/pkg/report"
	"loadline.dev/loadline/pkg/report/chart"
)

// share holds the flags of the verb share.
type share struct {
	streams verb.Streams
	files   input.Files
	options shares.Options
	sets    []string
	join    []string
	compare bool
	plot    string
	node    nodeFlags
	output  verb.Output
}

// New returns the command.
func New(streams verb.Streams) *cobra.Command {
	s := &share{streams: streams}
	command := &cobra.Command{
		Use:   "share (-f FILE | --node NAME | --pods FILE)",
		Short: "Predict the response times that shares of processors give",
		Long: `share says how long the jobs of workloads take, on average, that share processors
by weight: shares are guarantees, not limits, so what one leaves, others may use. It
reads a ShareTree, and the WorkloadProfiles of its namespaces whose fairShare names it;
that needs no cluster. Responses are multiples of the time that a job takes with a processor to
itself. Exit code 1 means that a mean response time is above that of an SLA.

With --node it shows the tree of shares that the kubelet makes of the CPU requests of
a node's pods, and the response times that this gives while the pods use as much CPU
as the metrics API says, or the file of --usage. With --pods it takes pods, and the
node, from a file, as kubectl get -o yaml prints them. That takes no WorkloadProfiles,
and is about the CPU alone; "explain" goes by profiles, and knows all resources and
limits. Where both can answer, they agree.

The methods: race is exact to a tolerance for trees of any size; subsets,
hierarchical and permutations are exact, for small trees; monte-carlo and ahmc draw
orders at random; caps takes shares as limits, as CPU limits are.`,
		Example: `  # The response times of a tree
  kubectl loadline share -f sharetree.yaml

  # What if web had 70 shares, and the group db 20?
  kubectl loadline share -f sharetree.yaml --set web=70 --set db=20

  # The others, if it is known only what orders and search use together
  kubectl loadline share -f sharetree.yaml --aggregate queries=orders,search

  # Draw it; see how long each method takes, and how far it is off
  kubectl loadline share -f sharetree.yaml --plot tree.svg --compare

  # Who slows whom by its CPU requests on a node, and what if one requested 500m?
  kubectl loadline share --node worker-3 --set shop/cart-0=500m`,
		Args: verb.NoArguments,
		RunE: func(command *cobra.Command, _ []string) error { return s.run(command.Context()) },
	}
	flags := command.Flags()
	s.files.Add(command, "share", "manifests, - for standard input; may be repeated")
	flags.StringVar(&s.options.Method, "method", shares.Methods()[0], "how to compute the response times: "+strings.Join(shares.Methods(), ", "))
	flags.Float64Var(&s.options.Tolerance, "tolerance", 0, "relative error that race may leave (default 1e-10)")
	flags.IntVar(&s.options.Samples, "samples", 0, "how many orders monte-carlo and ahmc draw (default 5000)")
	flags.Uint64Var(&s.options.Seed, "seed", 0, "seed of monte-carlo and ahmc")
	flags.StringSliceVar(&s.sets, "set", nil, "another share of a group or workload, as NAME=SHARE or PATH=SHARE; of a node another CPU request, as NAMESPACE/POD[/CONTAINER]=CPU; may be repeated")
	flags.StringArrayVar(&s.join, "aggregate", nil, "take siblings of a tree together into one workload, as NAME=MEMBER,MEMBER: an approximation for the others; may be repeated")
	flags.BoolVar(&s.compare, "compare", false, "show the time and the error of every method")
	flags.StringVar(&s.plot, "plot", "", "draw the tree to this file (.svg or .png)")
	s.node.add(command)
	s.output.Add(command)
	return command
}

// treeReport is the JSON and YAML output.
type treeReport struct {
	*shares.TreeAnswer
	// ElapsedSeconds is how long the computation took.
	ElapsedSeconds float64 `json:"elapsedSeconds"`
	// Comparison is there with --compare.
	Comparison []shares.ComparedMethod `json:"comparison,omitempty"`
}

func (s *share) run(ctx context.Context) error {
	if err := verb.CheckChart("plot", s.plot); err != nil {
		return err
	}
	if s.node.asked() {
		if len(s.join) > 0 {
			return errors.New("--aggregate is about a ShareTree: give one, -f sharetree.yaml")
		}
		return s.runNode(ctx)
	}
	if err := s.node.alone(); err != nil {
		return err
	}
	in := shares.TreeInput{Options: s.options}
	for _, text := range s.sets {
		change, err := parseShare(text)
		if err != nil {
			return fmt.Errorf("--set %s: %w", text, err)
		}
		in.Changes = append(in.Changes, change)
	}
	for _, text := range s.join {
		name, members, found := strings.Cut(text, "=")
		if !found || name == "" || members == "" {
			return fmt.Errorf("--aggregate %s: write NAME=MEMBER,MEMBER", text)
		}
		in.Aggregates = append(in.Aggregates, shares.Aggregate{Name: name, Members: strings.Split(members, ",")})
	}
	if len(s.files.Paths) == 0 {
		return errors.New("name a file with a ShareTree, -f sharetree.yaml; or a node, --node worker-3")
	}
	read, err := s.files.Read(s.streams, input.ShareTree, input.WorkloadProfile)
	if err != nil {
		return err
	}
	if in.Tree, err = onlyTree(read.ShareTrees); err != nil {
		return err
	}
	in.Profiles = read.WorkloadProfiles
	start := time.Now()
	answer, err := shares.OfTree(ctx, in)
	elapsed := time.Since(start)
	if err != nil {
		return s.explain(ctx, err)
	}
	r := treeReport{TreeAnswer: answer, ElapsedSeconds: elapsed.Seconds()}
	if s.compare {
		if r.Comparison, err = shares.Compare(ctx, in, compareTimeout, time.Now); err != nil {
			return s.explain(ctx, err)
		}
	}
	if s.plot != "" {
		if err := chart.WriteFile(s.plot, report.ShareChart(answer, "Shares, and the response times that they give")); err != nil {
			return err
		}
	}
	if err := s.output.Print(s.streams.Out, r, func(p *verb.Page) error { return printTree(p, &r, elapsed) }); err != nil {
		return err
	}
	return s.explain(ctx, missedSLAs(answer))
}

// onlyTree returns the ShareTree of the manifests.
func onlyTree(trees []v1alpha1.ShareTree) (*v1alpha1.ShareTree, error) {
	switch len(trees) {
	case 0:
		return nil, errors.New("there is no ShareTree in the files: give one, -f sharetree.yaml")
	case 1:
		return &trees[0], nil
	default:
		return nil, fmt.Errorf("there are %d ShareTrees in the files, share takes one", len(trees))
	}
}

// parseShare reads NAME=SHARE.
func parseShare(text string) (shares.Change, error) {
	name, value, err := verb.Pair(text, "web=70")
	if err != nil {
		return shares.Change{}, err
	}
	share, err := strconv.ParseInt(value, 10, 32)
	if err != nil || share < 1 {
		return shares.Change{}, fmt.Errorf("%q is not a whole number of at least 1", value)
	}
	return shares.Change{Name: name, Share: int32(share)}, nil
}

// explain says which file an error is about.
func (s *share) explain(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return verb.Interrupted("nothing")
	case len(s.files.Paths) == 1 && s.files.Paths[0] != "-":
		return fmt.Errorf("%s: %w", filepath.Base(s.files.Paths[0]), err)
	default:
		return err
	}
}

// missedSLAs is an answer that is no, nil if every SLA is met.
func missedSLAs(a *shares.TreeAnswer) error {
	const shown = 3
	missed := a.Missed()
	if len(missed) == 0 {
		return nil
	}
	var texts []string
	for _, n := range missed[:min(shown, len(missed))] {
		texts = append(texts, fmt.Sprintf("%s misses its SLA: %s", n.Name, n.Verdict()))
	}
	if more := len(missed) - shown; more > 0 {
		texts = append(texts, fmt.Sprintf("and %d more miss theirs", more))
	}
	return verb.No(errors.New(strings.Join(texts, "; ")))
}

// printTree prints the answer for people.
func printTree(p *verb.Page, r *treeReport, elapsed time.Duration) error {
	if err := p.Table(report.ShareTable(r.TreeAnswer)); err != nil {
		return err
	}
	if err := p.Lines(append([]string{report.ShareSummary(r.TreeAnswer, elapsed)}, report.ShareLeftOut(r.TreeAnswer)...)...); err != nil {
		return err
	}
	return printComparedMethods(p, r.Comparison)
}
