// Command compare lets several schedulers place the same pods on the same nodes,
// and shows how much pods slow each other down then. docs/evidence/better.md has what it
// found, and says how to read it.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"loadline.dev/loadline/hack/cluster/controlplane"
	"loadline.dev/loadline/hack/comparison"
	"loadline.dev/loadline/hack/local"
	"loadline.dev/loadline/hack/scenario"
	"loadline.dev/loadline/pkg/model/arrivals"
	"loadline.dev/loadline/pkg/report/chart"
)

// options are the flags.
type options struct {
	scenario.Options
	seeds      int
	schedulers string
	policies   string
	trimaran   string
	openb      string
	search     int
	output     string
	out        string
}

func main() {
	o := options{}
	flag.IntVar(&o.seeds, "seeds", 3, "how many scenarios, with the seeds 1, 2, …")
	flag.IntVar(&o.Nodes, "nodes", 100, "how many nodes")
	flag.Float64Var(&o.Requested, "requested", 0.6, "which part of the CPU is requested")
	flag.IntVar(&o.Steps, "steps", 12, "how many times pods leave and others come")
	flag.Float64Var(&o.ProfileError, "profile-error", 0.2, "how far profiles are off: σ of the logarithms of loadings")
	flag.StringVar(&o.schedulers, "schedulers", "kube-scheduler,most-allocated,trimaran,loadline",
		"the real schedulers, by commas: loadline, a name in hack/comparison/schedulers, or a file; empty for none")
	flag.StringVar(&o.policies, "policies", "least-requested,target-load-packing,least-dilation",
		"policies of replays, by commas, which place without a cluster; empty for none")
	flag.StringVar(&o.trimaran, "trimaran", "", "path of the scheduler of the Kubernetes scheduler-plugins")
	flag.StringVar(&o.openb, "openb", "", "take nodes, requests and stays from the openb trace: the files of its pods and of its nodes, by a comma")
	flag.IntVar(&o.search, "search", 2000, "how many moves and swaps of pods to try for a better placement at the end of seed 1; 0 for none")
	flag.StringVar(&o.output, "o", "table", "table or json")
	flag.StringVar(&o.out, "out", "out/compare", "folder for the chart")
	flag.Parse()
	if err := run(&o); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

func run(o *options) error {
	ctrl.SetLogger(logr.Discard()) // what matters is printed below
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := o.validate(); err != nil {
		return err
	}
	c := &comparer{options: o, progress: comparison.NewProgress(os.Stderr)}
	err := c.place(ctx)
	if len(c.runs) > 0 { // of the seeds that are done
		err = errors.Join(err, c.show())
	}
	return err
}

func (o *options) validate() error {
	switch {
	case flag.NArg() > 0:
		return fmt.Errorf("argument %q: there are only flags", flag.Arg(0))
	case o.seeds < 1:
		return fmt.Errorf("--seeds: %d is not at least 1", o.seeds)
	case o.search < 0:
		return fmt.Errorf("--search: %d is negative", o.search)
	case o.output != "table" && o.output != "json":
		return fmt.Errorf("-o: %q is neither table nor json", o.output)
	case len(list(o.schedulers))+len(list(o.policies)) == 0:
		return errors.New("--schedulers and --policies: both are empty")
	case slices.Contains(list(o.schedulers), comparison.Trimaran) && o.trimaran == "":
		return errors.New("--schedulers: trimaran needs --trimaran: make compare builds it")
	}
	if err := o.readTrace(); err != nil {
		return err
	}
	return o.Validate()
}

// readTrace reads the trace of --openb, if there is one.
func (o *options) readTrace() (err error) {
	if o.openb == "" {
		return nil
	}
	files := list(o.openb)
	if len(files) != 2 {
		return fmt.Errorf("--openb: %q is not two files, by a comma", o.openb)
	}
	var content [2][]byte
	for i, file := range files {
		if content[i], err = os.ReadFile(file); err != nil {
			return fmt.Errorf("--openb: %w", err)
		}
	}
	o.Trace, err = scenario.ReadOpenb(files[0], bytes.NewReader(content[0]), files[1], bytes.NewReader(content[1]))
	return err
}

// list returns the parts of a list.
func list(commas string) []string {
	return strings.FieldsFunc(commas, func(r rune) bool { return r == ',' })
}

// comparer is a comparison that goes on.
type comparer struct {
	*options
	progress *comparison.Progress
	cluster  *comparison.Cluster // nil without real schedulers
	real     []*comparison.Scheduler
	runs     []comparison.Runs
	samples  []chart.Sample
	found    *found
}

// found is what a search found at the end of a run.
type found struct {
	From    string  `json:"from"`
	Before  float64 `json:"meanDilation"`
	After   float64 `json:"meanDilationAfter"`
	Changes int     `json:"changes"`
}

// place lets all schedulers place the pods of all seeds.
func (c *comparer) place(ctx context.Context) (err error) {
	if names := list(c.schedulers); len(names) > 0 {
		stop, wrong := c.start(ctx, names)
		if wrong != nil {
			return wrong
		}
		defer func() { err = errors.Join(err, stop()) }()
	}
	for seed := 1; seed <= c.seeds; seed++ {
		c.Seed = uint64(seed)
		s, err := scenario.New(c.Options)
		if err != nil {
			return err
		}
		c.progress.Step("seed %d: %s", seed, s.Describe())
		if err := c.placeOne(ctx, s); err != nil {
			return fmt.Errorf("seed %d: %w", seed, err)
		}
	}
	return nil
}

// start starts a control plane for real schedulers.
func (c *comparer) start(ctx context.Context, names []string) (stop func() error, err error) {
	root, err := local.Root(ctx)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		s, err := comparison.SchedulerNamed(root, name)
		if err != nil {
			return nil, err
		}
		c.real = append(c.real, s)
	}
	dir, err := os.MkdirTemp("", "loadline-compare-")
	if err != nil {
		return nil, err
	}
	remove := func() error { return os.RemoveAll(dir) }
	c.progress.Step("building loadline-scheduler (minutes the first time)")
	scheduler, err := local.Build(ctx, root, dir, "loadline-scheduler")
	if err != nil {
		return nil, errors.Join(err, remove())
	}
	plane, err := controlplane.Start(ctx, controlplane.Options{Log: os.Stderr, WithoutControllerManager: true})
	if err != nil {
		return nil, errors.Join(err, remove())
	}
	stop = func() error { return errors.Join(plane.Err(), plane.Stop(), remove()) }
	programs := map[string]string{comparison.Loadline: scheduler, comparison.Trimaran: c.trimaran}
	if c.cluster, err = comparison.NewCluster(plane, root, dir, programs, c.progress); err != nil {
		return nil, errors.Join(err, stop())
	}
	return stop, nil
}

// placeOne lets all schedulers place the pods of a scenario, and searches for a better placement than the best at the end of
// the first.
func (c *comparer) placeOne(ctx context.Context, s *scenario.Scenario) error {
	judge := comparison.NewJudge(s)
	var names []string
	var outcomes []*comparison.Outcome
	if c.cluster != nil {
		if err := c.cluster.Prepare(ctx, s); err != nil {
			return err
		}
	}
	for _, scheduler := range c.real {
		o, err := c.cluster.Run(ctx, s, scheduler, judge)
		if err != nil {
			return fmt.Errorf("%s: %w", scheduler.Name, err)
		}
		names, outcomes = append(names, scheduler.Name), append(outcomes, o)
	}
	for _, policy := range list(c.policies) {
		placer, err := comparison.NewOffline(s, policy)
		if err != nil {
			return err
		}
		o, err := comparison.Run(ctx, s, placer, judge)
		if err != nil {
			return fmt.Errorf("%s: %w", policy, err)
		}
		names, outcomes = append(names, "policy "+policy), append(outcomes, o)
	}
	c.add(names, outcomes)
	if c.search == 0 || c.found != nil {
		return nil
	}
	best := 0
	for i, o := range outcomes {
		if o.Mean < outcomes[best].Mean {
			best = i
		}
	}
	return c.searchFrom(names[best], judge, outcomes[best].Last)
}

// add adds the outcomes of a seed to those of earlier ones.
func (c *comparer) add(names []string, outcomes []*comparison.Outcome) {
	for i, o := range outcomes {
		if i == len(c.runs) {
			c.runs = append(c.runs, comparison.Runs{Name: names[i]})
			c.samples = append(c.samples, chart.Sample{Name: names[i]})
		}
		c.runs[i].Of = append(c.runs[i].Of, o.Figures)
		c.samples[i].Values = append(c.samples[i].Values, o.Dilations...)
	}
}

// searchStream is that of the order in which a search tries.
const searchStream arrivals.Stream = 301

// searchFrom searches for a better placement.
func (c *comparer) searchFrom(name string, judge *comparison.Judge, from comparison.Placement) error {
	c.progress.Step("seed %d: searching for a better placement than that of %s", c.Seed, name)
	before, err := judge.Moment(from)
	if err != nil {
		return err
	}
	better, changes, err := comparison.Search(judge, from, comparison.SearchOptions{
		Width: 5, Trials: c.search, Rand: rand.New(arrivals.Source(c.Seed, searchStream)),
	})
	if err != nil {
		return err
	}
	after, err := judge.Moment(better)
	if err != nil {
		return err
	}
	c.found = &found{name, before.Mean(), after.Mean(), changes}
	return nil
}

// show prints the answer and draws the chart.
func (c *comparer) show() error {
	rows := comparison.Summarize(c.runs)
	if c.output == "json" {
		encoder := json.NewEncoder(os.Stdout)
		encoder.SetIndent("", "  ")
		return encoder.Encode(map[string]any{
			"openb": list(c.openb), "nodes": c.Nodes, "requested": c.Requested, "steps": c.Steps, "profileError": c.ProfileError,
			"schedulers": rows, "search": c.found,
		})
	}
	if err := comparison.WriteTable(os.Stdout, rows); err != nil {
		return err
	}
	if f := c.found; f != nil {
		fmt.Printf("At the end of seed 1 pods placed by %s are dilated %.4f× on average. %d moves and swaps of pods lower that to %.4f×.\n",
			f.From, f.Before, f.Changes, f.After)
	}
	if err := os.MkdirAll(c.out, 0o750); err != nil {
		return err
	}
	path := filepath.Join(c.out, "dilations.svg")
	if err := chart.WriteFile(path, comparison.Chart(c.samples)); err != nil {
		return err
	}
	fmt.Println("Chart:", path)
	return nil
}
