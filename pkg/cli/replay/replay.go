// Package replay is the verb replay: package replays computes the result of a TraceReplay, several
// runs at once or the one of a worker, and the verb prints, draws and files the answer.
package replay

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/cli/input"
	"loadline.dev/loadline/pkg/cli/verb"
	"loadline.dev/loadline/pkg/evaluate/replays"
	"loadline.dev/loadline/pkg/model/placement"
	"loadline.dev/loadline/pkg/report"
	"loadline.dev/loadline/pkg/text"
)

// replay holds the flags of the verb replay.
type replay struct {
	streams  verb.Streams
	version  string
	files    input.Files
	trace    string
	flags    specFlags // in place of, or over, the manifest's
	parallel int
	drawings drawings
	jobsTo   string
	epochsTo string
	output   verb.Output
	worker   worker
}

// New returns the command. The version is written on pages.
func New(version string, streams verb.Streams) *cobra.Command {
	r := &replay{streams: streams, version: version}
	command := &cobra.Command{
		Use:   "replay (-f FILE | --trace FILE | --generate JOBS)",
		Short: "Replay a trace of jobs on some nodes and compare placement policies",
		Long: `replay says what a stream of jobs, recorded or generated, would look like on some
nodes under some placement policies: how long jobs take, how much they slow each
other down, how long they wait, and when the last one is done. It reads a
TraceReplay, and the WorkloadProfiles and NodeProfiles that it refers to; or makes
one of flags. It computes, it does not simulate, and needs no cluster.

The policies: ` + strings.Join(placement.Names(), ", ") + `.`,
		Example: `  # What a TraceReplay asks, with the trace in a file; one page with everything
  kubectl loadline replay -f replay.yaml -f profiles.yaml --trace lastweek.csv --report week.html

  # A trace of the Standard Workload Format on one machine with 256 cores
  kubectl loadline replay --trace lublin_256.swf.gz --format swf --cores 256 --capacity cpu=256

  # Four nodes of 64 cores, six policies, what became of each job in files
  kubectl loadline replay --trace jobs.csv --nodes 4 --cores 64 \
    --policies round-robin,random,list,lmuf,lmuf-t=0.9,least-dilation --jobs-to results/

  # Ten streams of 10,000 jobs each, of two kinds, one every 6 s, on 8 nodes
  kubectl loadline replay -f profiles.yaml --generate 10000 --every 6s --types filecomp=2,sort=1 --nodes 8 --seeds 10

  # The nodes of an openb trace
  kubectl loadline replay --trace openb_pod_list.csv.gz --format openb --nodes-from openb_node_list.csv`,
		Args: verb.NoArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			return r.run(command.Context(), command.Flags().Changed)
		},
	}
	flags := command.Flags()
	r.files.Add(command, "replay", "manifests, - for standard input; may be repeated")
	flags.StringVar(&r.trace, "trace", "", "file with the trace, plain or gzip, - for standard input, in place of where the manifest has it")
	r.flags.add(flags)
	flags.IntVar(&r.parallel, "parallel", runtime.GOMAXPROCS(0), "how many runs go on at once")
	flags.StringVar(&r.jobsTo, "jobs-to", "", "write what became of each job to POLICY-SEED.csv in this folder")
	flags.StringVar(&r.epochsTo, "epochs-to", "", "write each epoch of each node to POLICY-SEED.epochs.csv in this folder")
	r.drawings.add(flags)
	r.output.AddWide(command)
	r.worker.add(flags)
	verb.Complete(command, "format", verb.OneOf(formats()))
	return command
}

func (r *replay) run(ctx context.Context, changed func(flag string) bool) error {
	if err := r.drawings.check(); err != nil {
		return err
	}
	if r.parallel < 1 {
		return fmt.Errorf("--parallel: %d is not at least 1", r.parallel)
	}
	if r.trace == "-" && slices.Contains(r.files.Paths, "-") {
		return errors.New("-f and --trace both read standard input: give one of them a file")
	}
	read, err := r.files.Read(r.streams, input.TraceReplay, input.WorkloadProfile, input.NodeProfile)
	if err != nil {
		return err
	}
	object, err := r.object(read, changed)
	if err != nil {
		return err
	}
	said := r.flags.fields(&object.Spec, changed)
	in := replays.Input{Replay: object, Workloads: read.WorkloadProfiles, Nodes: read.NodeProfiles}
	if object.Spec.Trace == nil {
		return r.replay(ctx, in, said, nil)
	}
	source, err := newTraceSource(ctx, r.trace, r.streams.In)
	if err != nil {
		return err
	}
	in.Open = source.open
	return errors.Join(r.replay(ctx, in, said, source), source.close())
}

// object returns the TraceReplay of the manifests, or one made of flags; flags
// count more.
func (r *replay) object(read *input.Objects, changed func(flag string) bool) (*v1alpha1.TraceReplay, error) {
	var object v1alpha1.TraceReplay
	switch len(read.TraceReplays) {
	case 0:
		if r.trace == "" && !changed("generate") {
			const give = "give a TraceReplay, -f replay.yaml; or a trace, --trace jobs.csv; or say how many jobs to generate, --generate 10000"
			if len(r.files.Paths) > 0 {
				return nil, errors.New("there is no TraceReplay in the files: " + give)
			}
			return nil, errors.New(give)
		}
	case 1:
		object = read.TraceReplays[0]
	default:
		return nil, fmt.Errorf("there are %d TraceReplays in the files, replay takes one", len(read.TraceReplays))
	}
	err := r.flags.apply(&object.Spec, r.trace, read.WorkloadProfiles, changed)
	if err == nil && object.Spec.Trace != nil && r.trace == "" {
		err = errors.New("the TraceReplay reads its trace from the cluster: give it as a file, --trace jobs.csv")
	}
	return &object, err
}

// replay carries out all runs, or the one that a worker is to, and gives the
// answer. An error of a field that a flag set names the flag. source is nil if there is no trace.
func (r *replay) replay(ctx context.Context, in replays.Input, said verb.FlagFields, source *traceSource) error {
	e, err := replays.New(in)
	if err != nil {
		return said.Named(err)
	}
	if r.worker.asked() {
		return r.worker.run(ctx, r, e)
	}
	bar := newProgress(r.streams.Err, e, source)
	results, err := r.runs(ctx, e, bar)
	bar.Clear()
	if err != nil && len(results) == 0 {
		return err
	}
	return errors.Join(r.answer(e.Merge(results)), err)
}

// runs carries out all runs. Each goes as far as it can: after an error in the
// trace the answers of all policies are of the same jobs. What was done before an
// error is in the results; without an error all are there.
func (r *replay) runs(ctx context.Context, e *replays.Replay, bar *progress) (map[int]*replays.Result, error) {
	found, errs := make([]*replays.Result, len(e.Runs())), make([]error, len(e.Runs()))
	var group errgroup.Group
	group.SetLimit(r.parallel)
	for i := range found {
		group.Go(func() error {
			found[i], errs[i] = r.oneRun(ctx, e, i, replays.Watch{Progress: bar.of(i), Occupancy: r.drawings.occupancy()})
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err // never
	}
	results := map[int]*replays.Result{}
	whole := 0
	for i, result := range found {
		if errs[i] == nil {
			whole++
		}
		if errs[i] == nil || result != nil && result.Jobs > 0 {
			results[i] = result
		}
	}
	if ctx.Err() != nil && whole < len(found) {
		return results, verb.Interrupted(keptRuns(whole, len(results)-whole, len(found)))
	}
	return results, different(errs)
}

// oneRun carries out a run, and writes the files about it.
func (r *replay) oneRun(ctx context.Context, e *replays.Replay, run int, watch replays.Watch) (*replays.Result, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	files, err := r.record(e, run, &watch)
	if err != nil {
		return nil, errors.Join(err, files.close(err))
	}
	result, err := e.Run(ctx, run, watch)
	return result, errors.Join(err, files.close(err))
}

// keptRuns describes the results of a replay that was interrupted.
func keptRuns(whole, partial, all int) string {
	switch {
	case whole+partial == 0:
		return "nothing, no job was done"
	case whole == 0:
		return fmt.Sprintf("what was done in %d of %d runs", partial, all)
	case partial == 0:
		return fmt.Sprintf("%d of %d runs", whole, all)
	default:
		return fmt.Sprintf("%d of %d runs, and what was done in %d more", whole, all, partial)
	}
}

// different joins errors, those with the same text once, and of many the first.
func different(errs []error) error {
	const shown = 3
	seen := map[string]bool{}
	var some []error
	for _, err := range errs {
		if err == nil || seen[err.Error()] {
			continue
		}
		if seen[err.Error()] = true; len(some) < shown {
			some = append(some, err)
		}
	}
	if more := len(seen) - len(some); more > 0 {
		some = append(some, fmt.Errorf("and %d more errors", more))
	}
	return errors.Join(some...)
}

// answer prints the results, and draws them.
func (r *replay) answer(a *replays.Answer) error {
	err := r.output.Print(r.streams.Out, a, func(p *verb.Page) error { return printAnswer(p, a) })
	if err != nil {
		return err
	}
	remarks, err := r.drawings.draw(a, r.version)
	return errors.Join(r.streams.Err.Lines(remarks...), err)
}

func printAnswer(p *verb.Page, a *replays.Answer) error {
	if err := p.Table(report.ReplayTable(a, p.Wide)); err != nil {
		return err
	}
	lines := []string{caption(a)}
	if a.Partial {
		lines = append(lines, fmt.Sprintf("The answer is partial: it is of the jobs that were done when the replay ended, in %d of %d runs.", a.Done, a.Runs))
	}
	return p.Lines(append(lines, report.ReplayNotes(a)...)...)
}

// caption names the subject of the table.
func caption(a *replays.Answer) string {
	jobs, runs := 0, 0
	for i := range a.Policies {
		jobs, runs = max(jobs, a.Policies[i].Jobs), max(runs, len(a.Policies[i].Runs))
	}
	text := text.Count(int64(jobs)) + " jobs"
	if len(a.Policies) > 1 {
		text += " per policy"
	}
	if runs > 1 {
		text += fmt.Sprintf(" in %d runs", runs)
	}
	text += "; mean to p99 are of execution times"
	if len(a.Policies) > 1 {
		text += ", saved is of mean response times"
		if runs > 1 {
			text += " (± 95% confidence)"
		}
	}
	return text
}
