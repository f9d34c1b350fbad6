package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/hack/comparison"
	"loadline.dev/loadline/hack/processes"
	"loadline.dev/loadline/hack/soak/trend"
)

// run soaks the cluster, takes everything away, and writes what it showed.
func (o *options) run(ctx context.Context) (err error) {
	if err := os.MkdirAll(o.dir, 0o755); err != nil {
		return err
	}
	progress := comparison.NewProgress(os.Stderr)
	c, err := connect(o, progress)
	if err != nil {
		return err
	}
	r, err := o.newRecord(ctx, c)
	if err != nil {
		return err
	}
	s := &soak{options: o, cluster: c, record: r, tally: newTally()}
	err = s.soak(ctx)
	// What was begun is taken away even if ctx has ended, in a bounded time.
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*patience)
	defer cancel()
	err = errors.Join(err, s.end(ending))
	if s.samples == 0 {
		return err
	}
	s.finish()
	return errors.Join(err, r.write(o.dir), show(o.dir, os.Stdout))
}

// newRecord returns the record of a run that begins now, with what the cluster is before it.
func (o *options) newRecord(ctx context.Context, c *cluster) (*record, error) {
	r := &record{
		Began: time.Now(), Length: metav1.Duration{Duration: o.length}, Cycle: metav1.Duration{Duration: o.cycle}, WarmUp: metav1.Duration{Duration: o.warmUp},
		Every: metav1.Duration{Duration: o.every}, Played: o.nodes, Commit: "unknown",
	}
	var err error
	if r.Cores, err = processes.Cores(); err != nil {
		return nil, err
	}
	version, err := c.api.Discovery().ServerVersion()
	if err != nil {
		return nil, err
	}
	r.Server = version.GitVersion
	if out, err := exec.CommandContext(ctx, "git", "describe", "--always", "--dirty").Output(); err == nil {
		r.Commit = strings.TrimSpace(string(out))
	}
	return r, nil
}

// soak is a run that is going on.
type soak struct {
	*options

	cluster *cluster
	record  *record
	tally   *tally
	load    *load
	played  *played
	clients *clients
	sampler *sampler
	cycles  int
	samples int
	problem error // that ended it
}

// soak installs Loadline, and samples it under the load for the length of the run.
func (s *soak) soak(ctx context.Context) (err error) {
	if err := s.prepare(ctx); err != nil {
		return err
	}
	file, err := os.Create(filepath.Join(s.dir, samplesFile))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	ctx, cancel := context.WithTimeout(ctx, s.length)
	defer cancel()
	loaded, watched := make(chan int, 1), make(chan struct{})
	go func() { loaded <- s.load.run(ctx) }()
	go func() { defer close(watched); s.clients.run(ctx) }()
	s.sampler.began = time.Now()
	s.record.Began = s.sampler.began
	s.sampleUntil(ctx, json.NewEncoder(file))
	s.record.Length = metav1.Duration{Duration: min(s.length, time.Since(s.record.Began).Round(time.Second))}
	s.cycles = <-loaded
	<-watched
	return s.problem
}

// prepare creates what the run needs, and returns when Loadline runs.
func (s *soak) prepare(ctx context.Context) error {
	var nodes corev1.NodeList
	if err := s.cluster.List(ctx, &nodes); err != nil {
		return err
	}
	for i := range nodes.Items {
		if nodes.Items[i].Annotations["kwok.x-k8s.io/node"] == "" {
			s.record.Real++
			continue
		}
		// It would take any pods.
		if err := s.cluster.Delete(ctx, &nodes.Items[i]); err != nil {
			return err
		}
	}
	if err := s.cluster.install(ctx); err != nil {
		return err
	}
	var err error
	if s.played, err = play(ctx, s.cluster.api, s.nodes); err != nil {
		return err
	}
	s.load = &load{cluster: s.cluster, kubectl: s.kubectl, nodes: s.nodes, cycle: s.cycle, tally: s.tally}
	if err := s.load.begin(ctx); err != nil {
		return err
	}
	if s.clients, err = newClients(ctx, s.cluster, s.tally, s.length); err != nil {
		return err
	}
	s.sampler, err = newSampler(ctx, s.cluster, s.auditLog, s.length)
	return err
}

// sampleUntil writes samples until ctx ends.
func (s *soak) sampleUntil(ctx context.Context, to *json.Encoder) {
	s.cluster.progress.Step("soaking for %s, until %s", s.length, time.Now().Add(s.length).Format(time.TimeOnly))
	ticks := time.NewTicker(s.every)
	defer ticks.Stop()
	for {
		taken := s.sampler.sample(ctx)
		if ctx.Err() != nil {
			return
		}
		if err := to.Encode(taken); err != nil {
			s.problem = fmt.Errorf("writing samples: %w", err)
			return
		}
		s.samples++
		s.cluster.progress.Count("minutes", int(time.Since(s.sampler.began).Minutes()), int(s.length.Minutes()))
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
	}
}

// end takes away what the run has made, and notes what is left of Loadline's objects.
func (s *soak) end(ctx context.Context) error {
	s.cluster.progress.Step("taking all away")
	var errs []error
	if s.load != nil {
		errs = append(errs, s.load.end(ctx, s.cycles))
	}
	if s.sampler != nil {
		left := &sample{Values: map[string]float64{}}
		errs = append(errs, s.sampler.sampleObjects(ctx, left))
		for name, n := range left.Values {
			if _, _, what := split(name); n > 0 && isLoadlines(what) {
				s.record.Left = append(s.record.Left, fmt.Sprintf("%.0f %s", n, strings.TrimPrefix(what, "objects: ")))
			}
		}
	}
	if s.played != nil {
		errs = append(errs, s.played.close(ctx))
	}
	errs = append(errs, s.cluster.uninstall(ctx), client.IgnoreNotFound(s.cluster.Delete(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: own}})))
	return errors.Join(errs...)
}

// isLoadlines reports whether a count of objects is of a kind of Loadline's, or of Jobs.
func isLoadlines(what string) bool {
	for _, kind := range countedKinds {
		if what == "objects: "+plural(kind.Kind) {
			return kind.Group == "loadline.dev" || kind.Kind == "Job"
		}
	}
	return false
}

// finish completes the record.
func (s *soak) finish() {
	r := s.record
	s.tally.mu.Lock()
	defer s.tally.mu.Unlock()
	r.Done, r.Failed, r.Missed = maps.Clone(s.tally.done), maps.Clone(s.tally.failed), s.sampler.problems
	r.Changes, r.Told = s.clients.seen.Load(), s.clients.told.Load()
}

// show judges the run that is in a folder, and writes the page there and to standard output. That something grows is an error.
func show(dir string, out *os.File) error {
	r, samples, err := read(dir)
	if err != nil {
		return err
	}
	all := judge(r, samples)
	var text strings.Builder
	if err := writePage(&text, r, samples, all); err != nil {
		return err
	}
	_, err = fmt.Fprint(out, text.String())
	return errors.Join(err, os.WriteFile(filepath.Join(dir, pageFile), []byte(text.String()), 0o600), growth(all))
}

// growth returns an error that names what grows; nil if nothing does.
func growth(all []judged) error {
	var names []string
	for i := range all {
		if all[i].Kind == trend.Grows {
			names = append(names, all[i].name())
		}
	}
	if len(names) == 0 {
		return nil
	}
	return fmt.Errorf("%d of %d series grow: %s", len(names), len(all), strings.Join(names, "; "))
}
