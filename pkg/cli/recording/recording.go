// Package recording is the verb record: it lists or watches the pods of a cluster, keeps
// those that end in a spool, and has package record make a trace of them.
package recording

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/cli/access"
	"loadline.dev/loadline/pkg/cli/deployed"
	"loadline.dev/loadline/pkg/cli/verb"
	"loadline.dev/loadline/pkg/record"
	"loadline.dev/loadline/pkg/text"
)

// options holds the flags of the verb record.
type options struct {
	streams       verb.Streams
	cluster       access.Flags
	allNamespaces bool
	selector      string
	to            string
	watch         bool
	limit         time.Duration
	since         time.Duration
	running       bool
}

// New returns the command.
func New(streams verb.Streams) *cobra.Command {
	r := &options{streams: streams}
	command := &cobra.Command{
		Use:   "record --to FILE",
		Short: "Write a trace of the jobs that a cluster ran",
		Long: `record writes a job trace from the pods of a cluster: when each was created, began
and ended, which WorkloadProfile it follows, what it requested and where it ran. Give
it to kubectl loadline replay to see what other nodes or policies would have made of it.

It takes the pods that have finished and are still there. Pods are soon cleaned up:
with --watch it goes on to record them as they finish or are deleted, until Ctrl-C or
for as long as --for says. Each pod is put into FILE.spool at once and FILE is written
at the end, by arrival. If the command is killed, run it again: it goes on with what
is in FILE.spool.

The flags by which kubectl finds a cluster work here too; see kubectl options.`,
		Example: `  # The pods of a namespace that have finished
  kubectl loadline record -n etl --to etl.csv

  # All pods of the cluster that finish or are deleted within a day
  kubectl loadline record -A --watch --for 24h --to day.csv.gz

  # What would another policy have made of it?
  kubectl loadline record -n etl -l team=ingest --to - | kubectl loadline replay --trace - -f profiles.yaml`,
		Args: verb.NoArguments,
		RunE: func(command *cobra.Command, _ []string) error { return r.run(command.Context()) },
	}
	flags := command.Flags()
	flags.StringVar(&r.to, "to", "", "file for the trace, compressed if its name ends in .gz; - for standard output")
	flags.BoolVarP(&r.allNamespaces, "all-namespaces", "A", false, "record the pods of all namespaces")
	flags.StringVarP(&r.selector, "selector", "l", "", "record only pods with these labels, such as app=web,tier!=test")
	flags.BoolVarP(&r.watch, "watch", "w", false, "go on to record pods as they finish, until Ctrl-C")
	flags.DurationVar(&r.limit, "for", 0, "with --watch: end after this time, such as 24h")
	flags.DurationVar(&r.since, "since", 0, "record only pods created since this long ago; the trace begins then (default all)")
	flags.BoolVar(&r.running, "include-running", false, "also record pods that run, if their profile has neutralMillis")
	r.cluster.Add(command, "namespace of the pods (default that of the context)")
	return command
}

func (r *options) run(ctx context.Context) error {
	selector, err := labels.Parse(r.selector)
	switch {
	case err != nil:
		return fmt.Errorf("--selector: %w", err)
	case r.to == "":
		return errors.New("name a file for the trace, --to trace.csv, or --to - for standard output")
	case r.watch && r.to == "-":
		return errors.New("--watch keeps what it records in a file until it ends: name one, --to trace.csv")
	case r.limit < 0:
		return fmt.Errorf("--for: %v is negative", r.limit)
	case r.limit > 0 && !r.watch:
		return errors.New("--for says how long to watch: give --watch, too")
	case r.since < 0:
		return fmt.Errorf("--since: %v is negative: give how long ago, such as 24h", r.since)
	}
	c, namespace, err := r.cluster.Connect(r.streams.Err)
	if err != nil {
		return err
	}
	if r.allNamespaces {
		namespace = ""
	}
	return r.record(ctx, &recordedPods{client: c, namespace: namespace, selector: selector})
}

func (r *options) record(ctx context.Context, pods *recordedPods) error {
	profiles, err := r.profiles(ctx, pods)
	if err != nil {
		return err
	}
	since := time.Time{}
	if r.since > 0 {
		since = time.Now().Add(-r.since).Truncate(time.Second)
	}
	if r.watch {
		return r.follow(ctx, pods, profiles, since)
	}
	recorder, err := r.recorder(profiles, since)
	if err != nil {
		return err
	}
	if err := pods.each(ctx, recorder.Add); err != nil {
		return err
	}
	return r.write(recorder.Recording())
}

func (r *options) recorder(profiles []v1alpha1.WorkloadProfile, since time.Time) (*record.Recorder, error) {
	return record.New(record.Options{Profiles: profiles, Since: since, Running: r.running})
}

// profiles returns the cluster's profiles, none if it lacks their kind.
func (r *options) profiles(ctx context.Context, pods *recordedPods) ([]v1alpha1.WorkloadProfile, error) {
	profiles, err := pods.profiles(ctx)
	if !errors.Is(err, deployed.ErrNoProfileKind) {
		return profiles, err
	}
	err = r.streams.Err.Warn("%s: demands are assumed from requests", verb.OneLine(err))
	return nil, err
}

// follow records pods as they finish, until the context ends, and then writes the trace. After any
// error the recorded pods are in the spool until they are in the trace.
func (r *options) follow(ctx context.Context, pods *recordedPods, profiles []v1alpha1.WorkloadProfile, since time.Time) (err error) {
	path := r.to + ".spool"
	spool, err := openSpool(path, spoolHeader{Namespace: pods.namespace, Selector: pods.selector.String(), Since: since})
	if err != nil {
		return err
	}
	defer func() {
		if err != nil && spool.size() > 0 {
			err = verb.Below(err, "What was recorded is in %s: the same command goes on with it", path)
		}
		err = errors.Join(err, spool.close())
	}()
	if n := spool.size(); n > 0 {
		if err := r.streams.Err.Lines(fmt.Sprintf("Going on with %s that an earlier recording left in %s", text.Counted(n, "pod"), path)); err != nil {
			return err
		}
	}

	watched := ctx
	if r.limit > 0 {
		var cancel context.CancelFunc
		watched, cancel = context.WithTimeout(ctx, r.limit)
		defer cancel()
	}
	live, err := r.watchPods(watched, pods, spool)
	if err != nil {
		return err
	}
	recorder, err := r.recorder(r.latestProfiles(ctx, pods, profiles), spool.header.Since)
	if err != nil {
		return err
	}
	if err := spool.each(recorder.Add); err != nil {
		return err
	}
	for _, pod := range live {
		recorder.Add(pod)
	}
	if err := r.write(recorder.Recording()); err != nil {
		return err
	}
	return spool.remove()
}

// watchPods puts pods into the spool as they finish, until the context ends, and
// returns those that have not.
func (r *options) watchPods(ctx context.Context, pods *recordedPods, spool *spool) ([]*corev1.Pod, error) {
	progress := verb.NewProgress(r.streams.Err)
	defer progress.Clear()
	l := newLedger(spool, func(recorded, live int) {
		progress.Show(func(time.Time) string {
			return text.Counted(recorded, "pod") + " recorded, " + text.Count(int64(live)) + " not finished; Ctrl-C ends it"
		})
	})
	err := pods.watch(ctx, l, func(err error) {
		progress.Clear()
		r.streams.Err.Warn("%s; trying again", verb.OneLine(err)) //nolint:errcheck // nowhere left to report it
	})
	return l.unfinished(), err
}

// latestProfiles reads the profiles again: the trace is replayed with those of the
// end. If the server does not answer, those of the start have to do.
func (r *options) latestProfiles(ctx context.Context, pods *recordedPods, first []v1alpha1.WorkloadProfile) []v1alpha1.WorkloadProfile {
	const patience = 10 * time.Second
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience) // it has ended
	defer cancel()
	latest, err := pods.profiles(ctx)
	if err == nil {
		return latest
	}
	if !errors.Is(err, deployed.ErrNoProfileKind) {
		r.streams.Err.Warn("%s; going by those of the start", verb.OneLine(err)) //nolint:errcheck // nowhere left to report it
	}
	return first
}

// write writes the trace, and describes it on the error stream.
func (r *options) write(recording *record.Recording) error {
	if len(recording.Jobs) == 0 {
		return nothingRecorded(recording, r.watch)
	}
	var err error
	if r.to == "-" {
		err = recording.Write(r.streams.Out.Writer())
	} else {
		err = replaceTrace(r.to, recording.Write)
	}
	if err != nil {
		return fmt.Errorf("writing the trace: %w", err)
	}
	return r.streams.Err.Lines(describe(recording, r.to)...)
}
