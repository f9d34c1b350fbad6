// Package pools answers a PoolPlan: the fewest servers with which every class of jobs keeps its
// SLA, whether classes should share a pool, the range in which the answer holds, and the status of
// the plan. All inputs, measured rates too, are in its arguments.
package pools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/model/queueing"
	"loadline.dev/loadline/pkg/model/sizing"
)

// Input is the input of a plan.
type Input struct {
	Plan *v1alpha1.PoolPlan
	// Profiles are those that classes may name. One without a namespace is
	// found by its name alone.
	Profiles []v1alpha1.WorkloadProfile
	// Namespaces are the labels of the namespaces of profiles, by their name: whether
	// they let their profiles count for pools of other namespaces. Nil if they are not
	// known; then all are taken to.
	Namespaces map[string]map[string]string
	// Measured are the answers to the queries of classes.
	Measured []Measurement
	// Quick skips the parts that take a simulated discipline long: the range of the rates, and the
	// alternatives to the pools.
	Quick bool
	// Simulation is for the disciplines pdp and late-last.
	Simulation sizing.Simulation
}

// Plan finds the fewest servers that the classes of a plan need. The error
// is an [Error], or the context's.
func Plan(ctx context.Context, in Input) (*Answer, error) {
	p, err := newPlanner(&in)
	if err != nil {
		return nil, err
	}
	chosen, err := p.choose(ctx)
	if err != nil {
		return nil, explain(ctx, err)
	}
	answer := &Answer{
		Name: in.Plan.Name, Discipline: disciplineName(p.options.Discipline), Strategy: strategyName(chosen.Strategy), Given: len(p.pools) > 0,
		Servers: chosen.Servers, Cost: chosen.Cost, Inputs: p.inputs.inputs, Held: p.inputs.held, Assumed: p.assumed(), Compared: !p.skips(),
	}
	if !answer.Given && p.strategy == v1alpha1.StrategyAuto {
		answer.Gap = chosen.Gap
	}
	for i := range chosen.Pools {
		pool, err := p.answer(ctx, i, &chosen.Pools[i])
		if err != nil {
			return nil, explain(ctx, err)
		}
		answer.Pools = append(answer.Pools, *pool)
	}
	return answer, p.compare(ctx, answer, &chosen)
}

// planner sizes the pools of a plan.
type planner struct {
	in      *Input
	inputs  *resolved
	classes []sizing.Class
	options sizing.Options
	// aside bounds parts that are worth less than the answer itself.
	aside   *sizing.Work
	pools   []v1alpha1.PlannedPool
	members [][]int        // the classes of each of the pools
	faults  map[int]*Error // why some of the pools have no answer
	// strategy is for a plan that lists no pools.
	strategy string
	// tolerance is the fraction more arrivals that pools are kept for.
	tolerance float64
}

// answer returns the answer for one of the chosen pools.
func (p *planner) answer(ctx context.Context, i int, chosen *sizing.Pool) (*PoolAnswer, error) {
	if len(p.pools) == 0 {
		return p.describe(ctx, chosen)
	}
	spec := &p.pools[i]
	if fault := p.faults[i]; fault != nil {
		return &PoolAnswer{Name: spec.Name, Fault: fault.Error(), FaultReason: fault.Reason}, nil
	}
	pool, err := p.describe(ctx, chosen)
	if err == nil {
		pool.Name, pool.Refused = spec.Name, p.refusal(spec)
		pool.Bounds, err = p.bound(ctx, spec, chosen)
	}
	if err != nil && ctx.Err() == nil && p.endure(i, err) {
		return &PoolAnswer{Name: spec.Name, Fault: p.faults[i].Error(), FaultReason: p.faults[i].Reason}, nil
	}
	return pool, err
}

// compare adds other ways to share pools to an answer, unless that takes too long.
func (p *planner) compare(ctx context.Context, answer *Answer, chosen *sizing.Plan) (err error) {
	if answer.Compared = answer.Compared && len(p.faults) == 0; !answer.Compared {
		return nil
	}
	answer.Alternatives, err = p.alternatives(ctx, chosen)
	if errors.Is(err, sizing.ErrTooCostly) || errors.Is(err, sizing.ErrTooLarge) {
		answer.Compared, answer.Alternatives, err = false, nil, nil
	}
	if err != nil {
		return explain(ctx, err)
	}
	return nil
}

func newPlanner(in *Input) (*planner, error) {
	inputs := resolve(in)
	p := &planner{in: in, inputs: inputs, classes: inputs.classes, pools: in.Plan.Spec.Pools, faults: map[int]*Error{}, tolerance: defaultTolerance}
	p.options.Simulation, p.options.MaxServers = in.Simulation, maxServers
	spec := field.NewPath("spec")
	if len(p.classes) == 0 {
		inputs.require(spec.Child("classes"), "there is no class")
	}
	seen := map[string]bool{}
	for i, c := range p.classes {
		if seen[c.Name] {
			inputs.invalid = append(inputs.invalid, field.Duplicate(spec.Child("classes").Index(i).Child("name"), c.Name))
		}
		seen[c.Name] = true
	}
	var known bool
	if p.options.Discipline, known = disciplineNamed(in.Plan.Spec.Discipline); !known {
		inputs.invalid = append(inputs.invalid, field.NotSupported(spec.Child("discipline"), in.Plan.Spec.Discipline, Disciplines()))
	}
	p.strategy = cmp.Or(in.Plan.Spec.Strategy, v1alpha1.StrategyAuto)
	if strategies := Strategies(); !slices.Contains(strategies, p.strategy) {
		inputs.invalid = append(inputs.invalid, field.NotSupported(spec.Child("strategy"), p.strategy, strategies))
	}
	if s := in.Plan.Spec.Scaling; s != nil && s.Tolerance != nil {
		p.tolerance = inputs.number(s.Tolerance, 1, spec.Child("scaling", "tolerance"))
	}
	p.limit()
	p.checkPools(spec.Child("pools"))
	if err := inputs.err(); err != nil {
		return nil, err
	}
	return p, p.validate()
}

// validate checks the inputs of each class separately: an invalid class that follows a profile, in
// a plan that lists pools, leaves only its own pool without an answer.
func (p *planner) validate() error {
	for k := range p.classes {
		if p.inputs.faults[k] != nil {
			continue
		}
		err := explainInput(named(k, sizing.Validate(p.classes[k:k+1])))
		if err != nil && p.inputs.mayFail(p.in, k) {
			p.inputs.faults[k] = err
		} else if err != nil {
			return err
		}
	}
	return nil
}

// named names the class of an error about it alone by its place among all.
func named(k int, err error) error {
	if infeasible, is := errors.AsType[*sizing.InfeasibleError](err); is {
		infeasible.Index = k
	}
	if value, is := errors.AsType[*queueing.ValueError](err); is {
		value.Field = strings.Replace(value.Field, "classes[0]", fmt.Sprintf("classes[%d]", k), 1)
	}
	return err
}

// faultless returns the first fault of a class, for questions that take all of them.
func (p *planner) faultless() error {
	for k := range p.classes {
		if fault := p.inputs.faults[k]; fault != nil {
			return fault
		}
	}
	return nil
}

const (
	// maxServers is the largest number of servers of an evaluated pool, the limit of the API.
	maxServers = 1_000_000
	// quickSteps and longSteps bound the cost of an answer, by [sizing.Work]: less than a second
	// for a controller, and ten for a person, who may also wait for a simulation.
	quickSteps, longSteps = 4_000_000, 100_000_000
	// asideSteps bounds the additional cost of less important parts: the range in which the answer
	// holds, and the alternatives.
	asideSteps = 2_000_000
)

// limit bounds the cost of the answer.
func (p *planner) limit() {
	switch {
	case p.in.Quick:
		p.options.Work, p.aside = sizing.NewWork(quickSteps), sizing.NewWork(asideSteps)
	case !p.options.Discipline.Simulated():
		p.options.Work, p.aside = sizing.NewWork(longSteps), sizing.NewWork(longSteps)
	}
}

// explainInput gives the reason for an error about the input.
func explainInput(err error) error {
	var infeasible *sizing.InfeasibleError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &infeasible):
		return &Error{v1alpha1.ReasonInfeasible, err}
	case errors.Is(err, sizing.ErrTooCostly):
		return &Error{v1alpha1.ReasonTooCostly, fmt.Errorf("%w; list pools of fewer classes each, give classes of a pool one service time and leave out scv, or take the discipline fcfs", err)}
	default:
		return &Error{v1alpha1.ReasonInvalid, err}
	}
}

// explain gives the reason for an error of the model, and says how to ask for less.
func explain(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return explainInput(err)
}

// choose sizes the pools of the plan, or those of its strategy.
func (p *planner) choose(ctx context.Context) (sizing.Plan, error) {
	if len(p.pools) > 0 {
		return p.given(ctx)
	}
	switch p.strategy {
	case v1alpha1.StrategyShared:
		return sizing.Shared(ctx, p.classes, p.options)
	case v1alpha1.StrategyDedicated:
		return sizing.Dedicated(ctx, p.classes, p.options)
	default:
		return sizing.Best(ctx, p.classes, p.options)
	}
}

// given sizes the pools of the plan.
func (p *planner) given(ctx context.Context) (sizing.Plan, error) {
	plan := sizing.Plan{Strategy: sizing.Partitioned}
	switch len(p.pools) {
	case len(p.classes):
		plan.Strategy = sizing.DedicatedPools
	case 1:
		plan.Strategy = sizing.SharedPool
	}
	for i, members := range p.members {
		pool, err := p.fewest(ctx, members, 1)
		if ctx.Err() != nil {
			return sizing.Plan{}, ctx.Err()
		}
		if err != nil && !p.endure(i, err) {
			return sizing.Plan{}, fmt.Errorf("pool %q: %w", p.pools[i].Name, err)
		}
		plan.Pools = append(plan.Pools, pool)
		plan.Servers += pool.Servers
		plan.Cost += pool.Cost
	}
	for i := range p.pools {
		if len(p.faults) == len(p.pools) {
			return sizing.Plan{}, p.faults[i]
		}
	}
	return plan, nil
}

// endure notes why a pool has no answer, and reports whether the others have one all the
// same: they do where the pool has a class that follows a profile, which others may have
// written than the plan.
func (p *planner) endure(i int, err error) bool {
	for _, k := range p.members[i] {
		if !p.inputs.mayFail(p.in, k) {
			continue
		}
		if because, is := errors.AsType[*Error](err); is { // it is explained already
			p.faults[i] = because
		} else {
			p.faults[i], _ = errors.AsType[*Error](explainInput(err))
		}
		return true
	}
	return false
}

// fewest sizes a pool for some of the classes, with their arrivals times a
// factor.
func (p *planner) fewest(ctx context.Context, members []int, factor float64) (sizing.Pool, error) {
	for _, k := range members {
		if fault := p.inputs.faults[k]; fault != nil {
			return sizing.Pool{}, fault
		}
	}
	pool, err := sizing.Fewest(ctx, p.some(members, factor), p.options)
	if err != nil {
		return pool, err
	}
	pool.Classes = slices.Clone(members)
	if pool.Binding >= 0 {
		pool.Binding = members[pool.Binding]
	}
	for i, k := range pool.Order {
		pool.Order[i] = members[k]
	}
	return pool, nil
}

func (p *planner) some(members []int, factor float64) []sizing.Class {
	classes := make([]sizing.Class, len(members))
	for i, k := range members {
		classes[i] = p.classes[k]
		classes[i].Arrival *= factor
	}
	return classes
}

// describe returns the results of the classes in a pool.
func (p *planner) describe(ctx context.Context, pool *sizing.Pool) (*PoolAnswer, error) {
	answer := &PoolAnswer{
		Name: p.nameOf(pool.Classes), Servers: pool.Servers, Cost: pool.Cost, Utilization: pool.Utilization(), Binding: p.className(pool.Binding), Undecided: pool.Undecided,
		Error: pool.Error, FewerMayDo: pool.FewerMayDo, MoreMayBeNeeded: pool.MoreMayBeNeeded,
	}
	for i, k := range pool.Classes {
		c := &p.classes[k]
		class := Class{Name: c.Name, WithinSeconds: c.SLA.Within, Probability: c.SLA.Probability, Attained: pool.Attained[i]}
		if pool.WithFewer != nil {
			class.WithOneFewer = new(pool.WithFewer[i])
		}
		if pool.WithMore != nil {
			class.WithOneMore = new(pool.WithMore[i])
		}
		if pool.HalfWidth != nil {
			class.HalfWidth = new(pool.HalfWidth[i])
		}
		answer.Classes = append(answer.Classes, class)
	}
	s, err := p.sensitivity(ctx, pool)
	if err != nil {
		return nil, err
	}
	if s != nil {
		answer.MaxArrivalFactor, answer.MinServiceFactor = finite(s.AllArrivals), finite(s.AllServices)
		for i, k := range pool.Classes {
			answer.Classes[i].MaxArrival = finite(s.Arrival[i] * p.classes[k].Arrival)
		}
	}
	slices.SortStableFunc(answer.Classes, func(a, b Class) int {
		return cmp.Compare(p.priority(pool, a.Name), p.priority(pool, b.Name))
	})
	return answer, nil
}

// sensitivity returns how far rates may move, nil where that takes too long.
func (p *planner) sensitivity(ctx context.Context, pool *sizing.Pool) (*sizing.Sensitivity, error) {
	if p.skips() {
		return nil, nil //nolint:nilnil // it is not computed, which is no error
	}
	members := slices.Clone(pool.Classes)
	alone := *pool
	alone.Classes, alone.Order = make([]int, len(members)), nil
	for i := range members {
		alone.Classes[i] = i
	}
	for _, k := range pool.Order {
		alone.Order = append(alone.Order, slices.Index(members, k))
	}
	o := p.options
	o.Work = p.aside
	s, err := sizing.Sensitive(ctx, p.some(members, 1), alone, o)
	if errors.Is(err, sizing.ErrTooCostly) {
		return nil, nil //nolint:nilnil // the same
	}
	return &s, err
}

// skips reports whether long parts are skipped.
func (p *planner) skips() bool { return p.in.Quick && p.options.Discipline.Simulated() }

// priority returns the place of a class in the order of a pool.
func (p *planner) priority(pool *sizing.Pool, class string) int {
	return slices.IndexFunc(pool.Order, func(k int) bool { return p.classes[k].Name == class })
}

// finite returns a number, nil if it is not finite.
func finite(x float64) *float64 {
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return nil
	}
	return &x
}

// className returns the name of a class, "" for none.
func (p *planner) className(k int) string {
	if k < 0 {
		return ""
	}
	return p.classes[k].Name
}

// nameOf names a pool that is not in the plan.
func (p *planner) nameOf(members []int) string {
	first := p.classes[members[0]].Name
	switch others := len(members) - 1; {
	case others == 0:
		return first
	case len(members) == len(p.classes):
		return v1alpha1.StrategyShared
	default:
		return fmt.Sprintf("%s+%d", first, others)
	}
}
