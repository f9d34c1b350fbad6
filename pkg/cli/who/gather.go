package who

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/cli/access"
	"loadline.dev/loadline/pkg/cli/gauges"
	"loadline.dev/loadline/pkg/cli/input"
	"loadline.dev/loadline/pkg/cli/verb"
	"loadline.dev/loadline/pkg/evaluate/observed"
	"loadline.dev/loadline/pkg/gauge/usage"
	"loadline.dev/loadline/pkg/report/file"
	"loadline.dev/loadline/pkg/scheduling"
)

// source is where observations are from.
type source interface {
	// look returns the present state.
	look(ctx context.Context) (*seen, error)
}

var (
	errNoUsage     = errors.New("--filename: say what the gauges observed, too: --usage FILE, as --save-usage writes it")
	errUsageAlone  = errors.New("--usage: give the pods and nodes that it is of, too: -f FILE, as kubectl get pods,nodes -A -o yaml prints them")
	errSourceFiles = errors.New("--source: files are read in place of a cluster; leave it out")
	errWatchFiles  = errors.New("--watch: files do not change; leave it out")
)

// source returns where observations are from, by the flags.
func (a *asking) source() (source, error) {
	switch {
	case len(a.files.Paths) == 0 && a.usage == "":
		return a.fromCluster()
	case a.usage == "":
		return nil, errNoUsage
	case len(a.files.Paths) == 0:
		return nil, errUsageAlone
	case a.watch:
		return nil, errWatchFiles
	case a.from != string(gauges.Auto):
		return nil, errSourceFiles
	default:
		return &files{a}, nil
	}
}

// cluster asks a cluster.
type cluster struct {
	client   client.Client
	asker    gauges.Asker
	nodes    []string
	moves    bool
	progress *verb.Progress
	warnings *verb.Stream
	pods     []corev1.Pod // of the last look
}

func (a *asking) fromCluster() (source, error) {
	var err error
	c := &cluster{nodes: a.nodes, moves: a.moves, progress: verb.NewProgress(a.streams.Err), warnings: a.streams.Err}
	c.asker.Source, c.asker.Note = gauges.Source(a.from), noteOnce(a.streams.Err)
	if c.asker.Config, c.asker.Own, err = a.cluster.Config(a.streams.Err); err != nil {
		return nil, err
	}
	c.client, err = access.NewClient(c.asker.Config)
	c.asker.Client = c.client
	return c, err
}

// noteOnce returns a function that prints notes, each unless it was the last one: --watch looks again and again.
func noteOnce(s *verb.Stream) func(note string) {
	last := ""
	return func(note string) {
		if note != last {
			last = note
			_ = s.Lines("Note: " + note) // the answer matters more
		}
	}
}

const (
	// minIntervals is the number of intervals that gauges make in a minute by default, and allIntervals about how many are asked for of
	// all gauges together: in a large cluster less of the past of each.
	minIntervals = 6
	allIntervals = 1500
)

// mostSteps is how many changes are looked for unless a flag says otherwise: to find hundreds, as would help where a tenth of 1,000 nodes is
// overloaded, takes minutes.
const mostSteps = 100

func (c *cluster) look(ctx context.Context) (*seen, error) {
	number := func(gauges int) int { return max(minIntervals, allIntervals/max(1, gauges)) }
	answers, err := c.asker.Ask(ctx, c.nodes, number, func(done, all int) {
		c.progress.Show(func(time.Time) string { return fmt.Sprintf("%d of %d gauges have answered", done, all) })
	})
	c.progress.Clear()
	if err != nil {
		return nil, err
	}
	nodes, err := scheduling.Nodes(ctx, c.client)
	if err != nil {
		return nil, err
	}
	pods, err := scheduling.PodsAgain(ctx, c.client, c.pods)
	if err != nil {
		return nil, err
	}
	c.pods = pods
	seen := &seen{in: &observed.Input{Nodes: nodes, Pods: pods}}
	if c.moves {
		lister := &scheduling.Lister{Reader: c.client, Unlisted: c.warnings.Unlisted}
		filter, err := lister.Filter(ctx, nodes, pods, scheduling.Each(pods))
		if err != nil {
			return nil, err
		}
		in, err := lister.Disruption(ctx)
		if err != nil {
			return nil, err
		}
		if seen.options.Rules, err = advised(in, pods, time.Now()); err != nil {
			return nil, err
		}
		seen.options.Feasibility, seen.options.Max = filter, mostSteps
		bounds, err := lister.Admission(ctx)
		if err != nil {
			return nil, err
		}
		if err := seen.admit(bounds, time.Now()); err != nil {
			return nil, err
		}
	}
	for _, answer := range answers {
		s := observed.Sight{Node: answer.Node}
		if answer.Err != nil {
			s.Problem = answer.Err.Error()
		} else {
			s = sightOf(answer.Node, answer.Report)
			seen.reports = append(seen.reports, *answer.Report)
		}
		seen.in.Sights = append(seen.in.Sights, s)
	}
	workloads := &v1alpha1.WorkloadProfileList{}
	if err := c.client.List(ctx, workloads); err != nil && !absent(err) {
		return nil, fmt.Errorf("listing profiles: %w", err)
	}
	seen.workloads = workloads.Items
	if !c.moves {
		return seen, nil
	}
	namespaces := &corev1.NamespaceList{}
	if err := c.client.List(ctx, namespaces); err != nil && !apierrors.IsForbidden(err) {
		return nil, fmt.Errorf("listing namespaces: %w", err)
	}
	seen.others.namespaces = namespaces.Items
	return seen, seen.promise(namespaces.Items)
}

// absent reports whether a kind could not be listed because the cluster does not have it, and unlisted whether for that or because the user
// may not.
func absent(err error) bool   { return meta.IsNoMatchError(err) || apierrors.IsNotFound(err) }
func unlisted(err error) bool { return absent(err) || apierrors.IsForbidden(err) }

func sightOf(node string, r *usage.Report) observed.Sight {
	return observed.Sight{Node: node, Intervals: r.Intervals, Age: time.Duration(r.AgeSeconds * float64(time.Second))}
}

// files are read in place of a cluster.
type files struct{ *asking }

func (f *files) look(context.Context) (*seen, error) {
	kinds := slices.Concat(input.Snapshot(), input.Disruption(), input.Admission())
	if f.everything {
		kinds = append(kinds, input.PoolPlan, input.ShareTree, input.TraceReplay, input.Remediation)
	}
	found, err := f.files.Read(f.streams, kinds...)
	if err != nil {
		return nil, err
	}
	name := filepath.Base(f.usage)
	content, err := os.Open(filepath.Clean(f.usage))
	if err != nil {
		return nil, fmt.Errorf("--usage: %w", err)
	}
	defer content.Close() //nolint:errcheck // it was only read
	reports, err := readReports(content)
	if err != nil {
		return nil, fmt.Errorf("--usage %s: %w", name, err)
	}
	seen := &seen{in: &observed.Input{Nodes: found.Nodes, Pods: found.Pods}, reports: reports, workloads: found.WorkloadProfiles}
	if f.moves {
		filter, err := found.Feasibility()
		if err != nil {
			return nil, err
		}
		if seen.options.Rules, err = advised(&found.Disruption, found.Pods, time.Now()); err != nil {
			return nil, err
		}
		seen.options.Feasibility, seen.options.Max = filter, mostSteps
		if err := seen.admit(&found.Admission, time.Now()); err != nil {
			return nil, err
		}
	}
	for i := range reports {
		seen.in.Sights = append(seen.in.Sights, sightOf(reports[i].Intervals[0].Node, &reports[i]))
	}
	seen.others = others{
		classes: found.NodeProfiles, namespaces: found.Namespaces, plans: found.PoolPlans, trees: found.ShareTrees, replays: found.TraceReplays,
		remediations: found.Remediations,
	}
	return seen, seen.promise(found.Namespaces)
}

// Limits of the input of --usage: twice a manager's data of 5,000 nodes.
const (
	maxUsageBytes   = 2 << 30
	maxUsageObjects = 1 << 18 // of a node
)

// readReports reads a list of reports, at most one for each node.
func readReports(in io.Reader) ([]usage.Report, error) {
	limits := usage.Limits{Bytes: maxUsageBytes, Intervals: usage.MaxIntervals, Objects: maxUsageObjects, Known: true}
	reports, err := usage.NewDecoder(in, limits).List()
	if err != nil {
		return nil, fmt.Errorf("is no list of reports of gauges, as --save-usage writes it: %w", err)
	}
	seen := map[string]bool{}
	for i := range reports {
		if len(reports[i].Intervals) == 0 {
			return nil, fmt.Errorf("[%d].intervals: there is none", i)
		}
		node := reports[i].Intervals[0].Node
		if seen[node] {
			return nil, fmt.Errorf("[%d].intervals[0].node: %q is there twice", i, node)
		}
		seen[node] = true
	}
	return reports, nil
}

// saveReports writes what readReports reads, without the reports of gauges that have not observed anything yet.
func saveReports(path string, reports []usage.Report) error {
	some := []usage.Report{}
	for i := range reports {
		if len(reports[i].Intervals) > 0 {
			some = append(some, reports[i])
		}
	}
	return file.Replace(path, func(w io.Writer) error { return json.NewEncoder(w).Encode(some) })
}
