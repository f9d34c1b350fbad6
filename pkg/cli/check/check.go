// Package check is the verb check: package validate checks manifests, together with a cluster's
// objects if requested, and the verb prints the errors.
package check

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadline.dev/loadline/pkg/cli/access"
	"loadline.dev/loadline/pkg/cli/input"
	"loadline.dev/loadline/pkg/cli/verb"
	"loadline.dev/loadline/pkg/text"
	"loadline.dev/loadline/pkg/validate"
)

// check holds the flags of the verb check.
type check struct {
	streams    verb.Streams
	files      input.Files
	askCluster bool
	cluster    access.Flags
	output     verb.Output
}

// New returns the command.
func New(streams verb.Streams) *cobra.Command {
	c := &check{streams: streams}
	command := &cobra.Command{
		Use:   "check -f FILE",
		Short: "Check manifests, and say what to write instead",
		Long: `check reads manifests of WorkloadProfiles, NodeProfiles, ShareTrees, PoolPlans,
TraceReplays and RemediationPolicies, and the configuration of the scheduler, and says
what is wrong with them and what to write instead. It applies every rule that the API
server applies to a new object, and what the controllers would report in its status.
Objects of other kinds are skipped. It needs no cluster: what is not in the files is
taken not to exist, and a reference to it is a warning.

With --with-cluster the objects of a cluster count, too; the API server is asked to apply
each manifest without keeping it, and a table shows how many pods, or nodes, would
follow each profile, and which profile wins where several want the same ones.

Exit code 1 means that there are errors, 0 that there are none; warnings may be there
with either.`,
		Example: `  # A file, before it is applied
  kubectl loadline check -f profiles.yaml

  # All manifests of a folder and those below it
  kubectl loadline check -R -f manifests

  # For another program
  kubectl loadline check -f profiles.yaml -o json

  # With the cluster that they are for: who would follow the profiles?
  kubectl loadline check -f profiles.yaml --with-cluster`,
		Args: verb.NoArguments,
		RunE: func(command *cobra.Command, _ []string) error { return c.run(command.Context()) },
	}
	flags := command.Flags()
	c.files.Add(command, "check", "manifests, - for standard input; may be repeated")
	c.cluster.Add(command, "namespace of objects that do not say (default that of the context, else default)")
	flags.BoolVar(&c.askCluster, "with-cluster", false, "ask the cluster, too")
	c.output.AddFormats(command, "text", "json", "yaml")
	return command
}

// load loads the rules once for a process, since compiling them takes most of the time of a check.
var load = sync.OnceValues(validate.Load)

func (c *check) run(ctx context.Context) error {
	if len(c.files.Paths) == 0 {
		return errors.New("name a file or a folder with manifests: -f profiles.yaml")
	}
	in, files, err := c.gather()
	if err != nil {
		return err
	}
	if len(in.Documents) == 0 {
		return fmt.Errorf("there is no object in %s", verb.Counted(files, "file", "files"))
	}
	if c.askCluster {
		if err := c.gatherCluster(ctx, &in); err != nil {
			return err
		}
	}
	rules, err := load()
	if err != nil {
		return err
	}
	answer, err := rules.Check(ctx, in)
	if err != nil {
		return err
	}
	if err := c.output.Print(c.streams.Out, answer, func(p *verb.Page) error { return printAnswer(p, answer, files) }); err != nil {
		return err
	}
	if n := answer.Errors(); n > 0 {
		return verb.No(fmt.Errorf("%s in %s", verb.Counted(n, "error", "errors"), verb.Counted(answer.Objects, "object", "objects")))
	}
	return nil
}

// gather reads the files.
func (c *check) gather() (in validate.Input, files int, err error) {
	in.Namespace, in.Now = c.cluster.Namespace(), metav1.NewTime(time.Now())
	sources, err := c.files.Sources()
	if err != nil {
		return in, 0, err
	}
	for _, source := range sources {
		file, name, err := input.Open(source.Path, c.streams.In)
		if err != nil {
			return in, 0, err
		}
		if source.Path != "-" {
			name = source.Path
		}
		for d, readErr := range input.Documents(file) {
			if readErr != nil {
				err = fmt.Errorf("%s: %w", name, readErr)
				break
			}
			in.Documents = append(in.Documents, validate.Document{Place: validate.Place{File: name, Document: d.Number, Line: d.Line}, Text: d.Text})
		}
		if err := errors.Join(err, file.Close()); err != nil {
			return in, 0, err
		}
	}
	return in, len(sources), nil
}

// maxShown bounds how many findings are printed for people.
const maxShown = 100

// printAnswer prints the answer for people, a line per finding.
func printAnswer(p *verb.Page, a *validate.Answer, files int) error {
	shown := min(maxShown, len(a.Findings))
	for i := range a.Findings[:shown] {
		if err := p.Lines(a.Findings[i].String()); err != nil {
			return err
		}
	}
	if more := len(a.Findings) - shown + a.More; more > 0 {
		if err := p.Lines("and " + text.Count(int64(more)) + " more"); err != nil {
			return err
		}
	}
	if len(a.Followers) > 0 {
		table := text.NewTable(text.Left("PROFILE"), text.Right("FOLLOWERS"), text.Whole("CONFLICT"))
		for _, f := range a.Followers {
			table.Add(f.String(), fmt.Sprint(f.Count), cmp.Or(f.Conflict, "-"))
		}
		if err := p.Table(table); err != nil {
			return err
		}
	}
	return p.Lines(summarize(a, files)...)
}

// summarize says how many objects there are, and what became of them.
func summarize(a *validate.Answer, files int) []string {
	text := verb.Counted(a.Objects, "object", "objects") + " in " + verb.Counted(files, "file", "files") + ": "
	warnings := a.Warnings()
	switch {
	case len(a.Findings) == 0:
		text += "nothing is wrong"
	case a.Refused > 0:
		text += fmt.Sprintf("%s, %s; the API server would refuse %d", verb.Counted(a.Errors(), "error", "errors"), verb.Counted(warnings, "warning", "warnings"), a.Refused)
	default:
		text += fmt.Sprintf("%s, %s", verb.Counted(a.Errors(), "error", "errors"), verb.Counted(warnings, "warning", "warnings"))
	}
	if len(a.Skipped) == 0 {
		return []string{text}
	}
	const shown = 3
	var skipped []string
	for i := range a.Skipped[:min(shown, len(a.Skipped))] {
		skipped = append(skipped, a.Skipped[i].ObjectName.String())
	}
	line := "Skipped, being of other kinds: " + strings.Join(skipped, ", ")
	if more := len(a.Skipped) - shown; more > 0 {
		line += fmt.Sprintf(" and %d more", more)
	}
	return []string{text, line}
}
