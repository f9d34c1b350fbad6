package pools

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/condition"
	"loadline.dev/loadline/pkg/profile"
)

// Status returns the status of a plan, given its answer or the reason for its absence. The record
// of actions on earlier answers is unchanged, and so is the last answer while there is no other.
// Conditions change at now.
func Status(in Input, a *Answer, why error, now metav1.Time) v1alpha1.PoolPlanStatus {
	var status v1alpha1.PoolPlanStatus
	in.Plan.Status.DeepCopyInto(&status)
	status.ObservedGeneration = new(in.Plan.Generation)
	status.Inputs = inputsOf(resolve(&in).inputs, status.Inputs, now)
	if a != nil {
		a.describe(&status)
	}
	condition.Set(&status.Conditions, in.Plan.Generation, now, a.ready(why), a.optimal())
	return status
}

// describe fills in the numbers of an answer.
func (a *Answer) describe(status *v1alpha1.PoolPlanStatus) {
	status.Strategy, status.Servers = a.Strategy, count(a.Servers)
	before := status.Pools
	status.Pools, status.Alternatives = nil, nil
	for i := range a.Pools {
		pool := &a.Pools[i]
		next := v1alpha1.PoolStatus{Name: pool.Name}
		if known := slices.IndexFunc(before, func(p v1alpha1.PoolStatus) bool { return p.Name == pool.Name }); known >= 0 {
			next = before[known]
		}
		if pool.Fault != "" { // its last need stays
			status.Pools = append(status.Pools, next)
			continue
		}
		next.Servers, next.Classes = count(pool.Servers), nil
		for k := range pool.Classes {
			next.Classes = append(next.Classes, pool.Classes[k].status())
		}
		if pool.Bounds != nil {
			next.DesiredReplicas = count(pool.Bounds.Replicas)
		}
		status.Pools = append(status.Pools, next)
	}
	for _, other := range a.Alternatives {
		status.Alternatives = append(status.Alternatives, v1alpha1.PoolAlternative{Strategy: other.Strategy, Servers: count(other.Servers), Cost: profile.Fraction(other.Cost)})
	}
}

// count returns a number for the API, which counts up to two thousand million.
func count(n int) *int32 { return new(int32(min(n, math.MaxInt32))) }

func (c *Class) status() v1alpha1.ClassAttainment {
	s := v1alpha1.ClassAttainment{Name: c.Name, Attained: profile.Fraction(c.Attained)}
	if c.WithOneFewer != nil {
		s.WithOneFewer = profile.Fraction(*c.WithOneFewer)
	}
	if c.MaxArrival != nil {
		s.MaxRatePerSecond = profile.Fraction(*c.MaxArrival)
	}
	return s
}

// inputsOf returns the inputs in the form of the status. A measured value that is unknown now keeps
// its last value: a controller that restarts continues from it.
func inputsOf(inputs []ClassInput, before []v1alpha1.ClassInput, now metav1.Time) []v1alpha1.ClassInput {
	var list []v1alpha1.ClassInput
	for _, in := range inputs {
		next := v1alpha1.ClassInput{Class: in.Class}
		for i := range before {
			if before[i].Class == in.Class {
				next.Arrival, next.Service = measuredOnly(before[i].Arrival), measuredOnly(before[i].Service)
			}
		}
		if in.Arrival != nil {
			next.Arrival = in.Arrival.status(now)
		}
		if in.Service != nil {
			next.Service = in.Service.status(now)
		}
		list = append(list, next)
	}
	return list
}

func measuredOnly(v *v1alpha1.InputValue) *v1alpha1.InputValue {
	if v == nil || v.Source != v1alpha1.SourceQuery {
		return nil
	}
	return v
}

func (v *InputValue) status(now metav1.Time) *v1alpha1.InputValue {
	s := &v1alpha1.InputValue{Value: new(resource.MustParse(strconv.FormatFloat(v.Value, 'f', 9, 64))), Source: v.Source}
	if v.AgeSeconds != nil {
		s.MeasuredTime = new(metav1.NewTime(now.Add(-time.Duration(*v.AgeSeconds * float64(time.Second))).Round(time.Second)))
	}
	return s
}

// ready is the condition Ready of an answer, or of the reason for none.
func (a *Answer) ready(why error) metav1.Condition {
	c := metav1.Condition{Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse}
	if a == nil {
		c.Reason, c.Message = v1alpha1.ReasonInvalid, why.Error()
		if known, ok := errors.AsType[*Error](why); ok {
			c.Reason = known.Reason
		}
		return c
	}
	if i := slices.IndexFunc(a.Pools, func(p PoolAnswer) bool { return p.Fault != "" }); i >= 0 {
		c.Reason, c.Message = a.Pools[i].FaultReason, strings.Join(a.Faults(), "; ")+"; the other pools have an answer: "+a.Summary()
		return c
	}
	for i := range a.Pools {
		if p := &a.Pools[i]; p.Bounds != nil && p.Bounds.Unstable {
			c.Reason = v1alpha1.ReasonUnstable
			c.Message = fmt.Sprintf("pool %q needs %d servers and may have %d, which cannot keep up with the arrivals: the queue grows without end; raise maxServers", p.Name, p.Servers, p.Bounds.Servers)
			return c
		}
	}
	c.Status, c.Reason, c.Message = metav1.ConditionTrue, v1alpha1.ReasonPlanned, a.Summary()
	c.Message += a.approximated()
	if a.Held != "" {
		c.Message += "; " + a.Held
	}
	for i := range a.Pools {
		if p := &a.Pools[i]; p.Refused != "" {
			c.Message += fmt.Sprintf("; pool %q is not scaled: %s", p.Name, p.Refused)
		}
	}
	if beyond := a.BeyondCluster(); beyond != "" {
		c.Reason = v1alpha1.ReasonBeyondCluster
		c.Message += "; " + beyond
	}
	return c
}

// Summary says the answer in one line: "dedicated pools, 5 servers: checkout 2,
// search 3".
func (a *Answer) Summary() string {
	var pools []string
	for i := range a.Pools {
		if a.Pools[i].Fault == "" {
			pools = append(pools, fmt.Sprintf("%s %d", a.Pools[i].Name, a.Pools[i].Servers))
		}
	}
	plural := "pools"
	if len(a.Pools) == 1 {
		plural = "pool"
	}
	servers := "servers"
	if a.Servers == 1 {
		servers = "server"
	}
	return fmt.Sprintf("%s %s, %d %s: %s", a.Strategy, plural, a.Servers, servers, strings.Join(pools, ", "))
}

// optimal is the condition Optimal of an answer, which may be nil.
func (a *Answer) optimal() metav1.Condition {
	c := metav1.Condition{Type: v1alpha1.ConditionOptimal, Status: metav1.ConditionUnknown, Reason: v1alpha1.ReasonNotCompared}
	switch {
	case a == nil:
		c.Message = "there is no plan"
	case !a.Compared:
		c.Message = "other ways to share pools take long to compare, or a pool has no answer; kubectl loadline size takes more time"
	case len(a.Alternatives) > 0 && a.Alternatives[0].Cost < a.Cost*(1-1e-9):
		best := &a.Alternatives[0]
		c.Status, c.Reason = metav1.ConditionFalse, v1alpha1.ReasonCheaperStrategy
		c.Message = fmt.Sprintf("%s pools would need %s instead of %s: %s", best.Strategy, price(best.Servers, best.Cost), price(a.Servers, a.Cost), best.pools())
	default:
		c.Status, c.Reason = metav1.ConditionTrue, v1alpha1.ReasonCheapest
		c.Message = fmt.Sprintf("no other way to share pools costs less than %s", price(a.Servers, a.Cost))
	}
	if a != nil && a.Compared {
		c.Message += a.approximated()
	}
	return c
}

// approximated says which servers the error of an approximation may change, after another message.
func (a *Answer) approximated() string {
	if uncertain := a.Uncertain(); uncertain != "" {
		return "; approximated: " + uncertain
	}
	return ""
}

func (a *Alternative) pools() string {
	var pools []string
	for _, p := range a.Pools {
		pools = append(pools, fmt.Sprintf("%d for %s", p.Servers, strings.Join(p.Classes, " and ")))
	}
	return strings.Join(pools, ", ")
}

// price states the number of servers, and their cost if that is not one each.
func price(servers int, cost float64) string {
	if cost == float64(servers) {
		return fmt.Sprintf("%d servers", servers)
	}
	return fmt.Sprintf("%d servers at a cost of %.4g", servers, cost)
}
