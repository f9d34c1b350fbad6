package poolplan

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/pools"
)

// Defaults of the API.
const (
	defaultInterval      = 30 * time.Second
	defaultStabilization = 300 * time.Second
	defaultBetweenSteps  = 15 * time.Second
)

// input holds the inputs of a decision.
type input struct {
	plan     *v1alpha1.PoolPlan
	profiles []v1alpha1.WorkloadProfile
	// namespaces are the labels of the namespaces of the profiles, by their name.
	namespaces map[string]map[string]string
	measured   []pools.Measurement
	targets    map[string]*target // by pool; none for a pool without one
	now        time.Time
}

// decision holds the actions on a plan.
type decision struct {
	// moves are the actions on each pool, nil for none.
	moves []move
	// status is the plan's before it is [decision.settled], which follows after acting.
	status v1alpha1.PoolPlanStatus
	// again is when to look again without having been woken, 0 for never.
	again time.Duration
}

// decide answers a plan and says how to scale its pools. It is pure: the same
// input gives the same decision. What is wrong with the plan goes to its status;
// the error is the context's.
func decide(ctx context.Context, in *input) (*decision, error) {
	question := pools.Input{Plan: in.plan, Profiles: in.profiles, Namespaces: in.namespaces, Measured: in.measured, Quick: true}
	answer, why := pools.Plan(ctx, question)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	d := &decision{
		status: pools.Status(question, answer, why, metav1.NewTime(in.now)),
		again:  interval(&in.plan.Spec),
	}
	if answer == nil || in.plan.Spec.Mode != v1alpha1.ModeApply {
		d.forgetWaits()
		d.observe(in)
		return d, nil
	}
	rules := newRules(in.plan.Spec.Scaling)
	for i := range answer.Pools {
		d.move(in, rules, &answer.Pools[i], &d.status.Pools[i], answer.Held)
	}
	d.observe(in)
	return d, nil
}

// move decides on one pool.
func (d *decision) move(in *input, rules rules, answer *pools.PoolAnswer, status *v1alpha1.PoolStatus, held string) {
	t := in.targets[answer.Name]
	if t == nil {
		return
	}
	m := move{pool: answer.Name, servers: answer.Servers}
	if answer.Bounds != nil {
		m.bounds = *answer.Bounds
	}
	if t.replicas != nil {
		m.from = *t.replicas
	}
	if why := hindrance(t, answer); why != nil {
		m.fail(why)
		status.FewerSince, status.FewerReplicas = nil, nil
	} else {
		again := rules.next(&m, status, in.now, held)
		if again > 0 {
			d.again = min(d.again, again)
		}
	}
	d.moves = append(d.moves, m)
}

// hindrance returns why a pool must not be scaled, nil if it may be.
func hindrance(t *target, answer *pools.PoolAnswer) *problem {
	switch {
	case answer.Fault != "":
		return &problem{answer.FaultReason, answer.Fault}
	case answer.Refused != "":
		return &problem{v1alpha1.ReasonProfileNotAllowed, answer.Refused}
	default:
		return t.problem
	}
}

// forgetWaits makes pools begin anew to wait for being scaled down: for how long
// fewer servers have been enough is not known while there is no plan.
func (d *decision) forgetWaits() {
	for i := range d.status.Pools {
		d.status.Pools[i].FewerSince, d.status.Pools[i].FewerReplicas = nil, nil
	}
}

// observe notes how many replicas the targets have.
func (d *decision) observe(in *input) {
	for i := range d.status.Pools {
		status := &d.status.Pools[i]
		status.CurrentReplicas = nil
		if t := in.targets[status.Name]; t != nil {
			status.CurrentReplicas = t.replicas
		}
	}
}

// interval is how often a plan is looked at: as often as Prometheus is asked.
// What is declared, and scales nothing, is looked at when it changes.
func interval(spec *v1alpha1.PoolPlanSpec) time.Duration {
	switch {
	case spec.Prometheus != nil:
		return seconds(spec.Prometheus.IntervalSeconds, defaultInterval)
	case len(spec.Pools) > 0:
		return defaultInterval
	default:
		return 0
	}
}

func seconds(n *int32, otherwise time.Duration) time.Duration {
	if n == nil {
		return otherwise
	}
	return time.Duration(*n) * time.Second
}
