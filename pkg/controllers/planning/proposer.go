package planning

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/admission"
	"loadline.dev/loadline/pkg/controllers/remediation"
	"loadline.dev/loadline/pkg/evaluate/disruption"
	"loadline.dev/loadline/pkg/evaluate/observed"
	"loadline.dev/loadline/pkg/evaluate/plan"
	"loadline.dev/loadline/pkg/evaluate/proposals"
	"loadline.dev/loadline/pkg/evaluate/remediations"
	"loadline.dev/loadline/pkg/gauge/collected"
	"loadline.dev/loadline/pkg/scheduling"
)

const (
	// every is how often a plan is made, and soon how often it is looked whether the gauges were asked for the first time.
	every, soon = time.Minute, 10 * time.Second
)

// Proposer proposes changes. SetupWithManager sets unset fields.
type Proposer struct {
	// Client writes, and reads policies, namespaces and profiles from the manager's cache.
	Client client.Client
	// API reads past all caches. Defaults to the manager's.
	API client.Reader
	// Pods returns the pods that have not ended, as far as plans look at them, see [scheduling.Trim]. They are not changed.
	Pods func(context.Context) ([]corev1.Pod, error)
	// Count returns how many these are.
	Count func(context.Context) (int, error)
	Clock clock.Clock
	// Collected is what gauges observed.
	Collected *collected.History
	// Namespace is the one that the manager runs in: its label stops everything.
	Namespace string
	// Schedulers are the names of the schedulers whose pods are moved.
	Schedulers []string
	// Resizable reports whether the API server lets pods be resized. Defaults to what the API server of the manager says.
	Resizable func(context.Context) (bool, error)
	// MemoryLimit is how many bytes the manager may have. There is no plan for so many pods that it would not do with them. Defaults to its
	// GOMEMLIMIT.
	MemoryLimit int64
	// Metrics say how plans come out. Defaults to those of the manager.
	Metrics *Metrics

	log logr.Logger
}

// SetupWithManager has the manager run the proposer while it leads.
func (p *Proposer) SetupWithManager(mgr ctrl.Manager) error {
	p.API, p.log = mgr.GetAPIReader(), mgr.GetLogger().WithName("planning")
	if p.Metrics == nil {
		p.Metrics = NewMetrics(metrics.Registry)
	}
	if p.MemoryLimit == 0 {
		p.MemoryLimit = debug.SetMemoryLimit(-1) // which changes nothing
	}
	if p.Resizable == nil {
		resizable, err := remediation.NewResizable(mgr.GetConfig(), mgr.GetHTTPClient(), p.Clock)
		if err != nil {
			return fmt.Errorf("asking whether pods can be resized: %w", err)
		}
		p.Resizable = resizable
	}
	return mgr.Add(p)
}

// Start proposes every minute until the context is done, for the first time once the gauges were asked.
func (p *Proposer) Start(ctx context.Context) error {
	for {
		wait := soon
		if _, asked := p.Collected.Age(); asked {
			if err := p.Propose(ctx); err != nil && ctx.Err() == nil {
				p.log.Error(err, "Cannot propose changes; trying again in a minute")
			}
			wait = every
		}
		timer := p.Clock.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-timer.C():
		}
	}
}

// Propose makes a plan, and proposes its changes. Without a policy there is none.
func (p *Proposer) Propose(ctx context.Context) error {
	start := p.Clock.Now()
	in, err := p.gather(ctx)
	if err != nil {
		return p.failed(reading, err)
	}
	if in == nil {
		p.Metrics.none()
		return nil
	}
	made, err := plan.Make(in.cluster, &in.options)
	if err != nil {
		return p.failed(planning, fmt.Errorf("planning: %w", err))
	}
	p.Metrics.planned(made, p.Clock.Since(start))
	of := in.round.Of(made, in.cluster)
	if of.LeftOut > 0 {
		p.log.Info("Some changes are not proposed: there are as many as are at a time", "proposed", of.Kept+len(of.Made), "left out", of.LeftOut)
	}
	if err := p.write(ctx, of); err != nil {
		return p.failed(writing, err)
	}
	return nil
}

// failed counts what did not succeed.
func (p *Proposer) failed(step string, err error) error {
	p.Metrics.errors.WithLabelValues(step).Inc()
	return err
}

// input is what a plan is made of.
type input struct {
	round   *proposals.Round
	cluster *observed.Cluster
	options plan.Options
}

// gather reads what a plan is made of, nil without a policy: proposals of earlier expire then.
func (p *Proposer) gather(ctx context.Context) (*input, error) {
	now := p.Clock.Now()
	of := &proposals.Input{Schedulers: sets.New(p.Schedulers...), Namespace: p.Namespace, Now: now}
	in := &input{}
	var err error
	if of.Policies, err = readPolicies(ctx, p.Client); err != nil {
		return nil, err
	}
	if len(of.Policies) == 0 {
		return nil, nil //nolint:nilnil // there is nothing to plan
	}
	var all v1alpha1.RemediationList
	if err := p.API.List(ctx, &all); err != nil { // past the cache: nothing is proposed twice
		return nil, fmt.Errorf("listing Remediations: %w", err)
	}
	of.Remediations = all.Items
	if of.Resizable, err = p.Resizable(ctx); err != nil {
		return nil, fmt.Errorf("asking whether pods can be resized: %w", err)
	}
	pods, err := p.Count(ctx)
	if err != nil {
		return nil, fmt.Errorf("counting pods: %w", err)
	}
	if err := fits(pods, p.MemoryLimit); err != nil {
		return nil, err
	}
	nodes, err := scheduling.Nodes(ctx, p.API)
	if err != nil {
		return nil, err
	}
	if of.Pods, err = p.Pods(ctx); err != nil {
		return nil, fmt.Errorf("listing pods: %w", err)
	}
	if of.Namespaces, in.options.Promise, err = readPromises(ctx, p.Client); err != nil {
		return nil, err
	}
	observer := observed.NewObserver(&observed.Input{Nodes: nodes, Pods: of.Pods, Window: window}, proposals.Above(of.Policies))
	for s := range sights(p.Collected, changes(of.Remediations), now) {
		observer.See(s)
	}
	in.cluster = observer.Cluster()
	in.cluster.SolveSlowed()
	of.Observed = observedNodes(in.cluster)
	in.round = proposals.New(of)
	return in, p.schedule(ctx, in, nodes)
}

// observedNodes returns the nodes that were observed.
func observedNodes(c *observed.Cluster) sets.Set[string] {
	names := sets.New[string]()
	for _, n := range c.Nodes {
		if n.Problem == "" {
			names.Insert(n.Name)
		}
	}
	return names
}

// schedule reads what decides where pods may go, and completes the options of the plan.
func (p *Proposer) schedule(ctx context.Context, in *input, nodes []corev1.Node) error {
	pods := in.round.Pods
	lister := &scheduling.Lister{Reader: p.API, Unlisted: func(err error, unknown string) error {
		p.log.Info("The manager may not list what plans depend on", "unknown", unknown, "error", err.Error())
		return nil
	}}
	if in.round.Moves() { // else no filter is asked, which takes seconds to set up in a large cluster
		filter, err := lister.Filter(ctx, nodes, pods, in.round.Movable())
		if err != nil {
			return err
		}
		in.options.Feasibility = filter
	}
	rules, err := lister.Disruption(ctx)
	if err != nil {
		return err
	}
	rules.Pods, rules.Now, rules.NoResize, rules.Allowed = pods, in.round.Now, !in.round.Resizable, sets.New[string]()
	for _, policy := range in.round.Policies {
		rules.Allowed = rules.Allowed.Union(remediations.SingleReplicas(policy))
	}
	if in.options.Rules, err = disruption.New(rules); err != nil {
		return err
	}
	bounds, err := lister.Admission(ctx)
	if err != nil {
		return err
	}
	bounds.Pods, bounds.Now = pods, in.round.Now
	if in.options.Admission, err = admission.New(bounds); err != nil {
		return err
	}
	in.round.Options(&in.options)
	return nil
}

// write withdraws proposals, and makes others. What another write has changed meanwhile is looked at in the next round.
func (p *Proposer) write(ctx context.Context, of *proposals.Proposals) error {
	var failed []error
	for _, c := range of.Withdrawn {
		err := p.Client.Delete(ctx, c, client.Preconditions{UID: &c.UID, ResourceVersion: &c.ResourceVersion})
		switch {
		case err == nil:
			p.Metrics.withdrawn.Inc()
			p.log.Info("A proposed change is withdrawn: it is not part of the plan any more", "namespace", c.Namespace, "remediation", c.Name)
		case !apierrors.IsConflict(err) && !apierrors.IsNotFound(err):
			failed = append(failed, fmt.Errorf("withdrawing Remediation %s/%s: %w", c.Namespace, c.Name, err))
		}
	}
	for _, c := range of.Made {
		if err := p.Client.Create(ctx, c); err != nil && !apierrors.IsAlreadyExists(err) {
			failed = append(failed, fmt.Errorf("proposing Remediation %s/%s: %w", c.Namespace, c.Name, err))
		}
	}
	return errors.Join(failed...)
}
