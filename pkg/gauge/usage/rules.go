package usage

import (
	"fmt"
	"math"
)

// What a report may have at most. No kubelet runs more pods.
const (
	// MaxIntervals is how many intervals a report may have.
	MaxIntervals = 1000
	// MaxPods is how many pods an interval may have.
	MaxPods = 1000
	// MaxContainers is how many containers a pod may have, and MaxAllContainers how many all pods of an interval may have together.
	MaxContainers    = 100
	MaxAllContainers = 10_000
)

const (
	// Instant is less than any interval lasts, in seconds. A pod that was observed for less was not.
	Instant = 1e-6
	// maxAmount is more than any amount of an interval is, in seconds or as a number. Sums, products and quotients of a few amounts are
	// far from the largest number.
	maxAmount = 1e15
)

// maxLifetime is longer than any gauge runs, in seconds: thirty years.
const maxLifetime = 1e9

// Validate returns an error that names the first field whose value no manager answers.
func (c *Collection) Validate() error {
	if err := amounts(amount{"ageSeconds", c.AgeSeconds}); err != nil {
		return err
	}
	if len(c.Refused) > MaxRefused {
		return fmt.Errorf("refused: %d are more than %d", len(c.Refused), MaxRefused)
	}
	if c.RefusedBesides < 0 {
		return fmt.Errorf("refusedBesides: %d is less than 0", c.RefusedBesides)
	}
	for i := range c.Refused {
		if err := c.Refused[i].validate(); err != nil {
			return fmt.Errorf("refused[%d].%w", i, err)
		}
	}
	return nil
}

func (r *Refusal) validate() error {
	if err := nodeName(r.Node); err != nil {
		return err
	}
	if r.Reason != Excerpt(r.Reason) {
		return fmt.Errorf("reason: %.64q is longer than %d bytes, or has what cannot be printed", r.Reason, MaxExcerpt)
	}
	return nil
}

// Validate returns an error that names the first field whose value no gauge reports.
func (r *Report) Validate() error {
	if err := r.validateAge(); err != nil {
		return err
	}
	if len(r.Intervals) > MaxIntervals {
		return fmt.Errorf("intervals: %d are more than %d", len(r.Intervals), MaxIntervals)
	}
	for i := range r.Intervals {
		if err := r.Intervals[i].Validate(); err != nil {
			return fmt.Errorf("intervals[%d].%w", i, err)
		}
		if err := r.sameNode(i); err != nil {
			return fmt.Errorf("intervals[%d].%w", i, err)
		}
	}
	return nil
}

func (r *Report) validateAge() error { return amounts(amount{"ageSeconds", r.AgeSeconds}) }

// sameNode returns an error if an interval is not of the node that the first one is of.
func (r *Report) sameNode(i int) error {
	if node, first := r.Intervals[i].Node, r.Intervals[0].Node; node != first {
		return fmt.Errorf("node: %.64q is not that of the first interval, %.64q", node, first)
	}
	return nil
}

// Validate returns an error that names the first field whose value no gauge reports. What reads reports asks it: a node
// may lie.
func (v *Interval) Validate() error {
	if len(v.Pods) > MaxPods {
		return fmt.Errorf("pods: %d are more than %d", len(v.Pods), MaxPods)
	}
	for i := range v.Pods {
		if err := v.Pods[i].validate(); err != nil {
			return fmt.Errorf("pods[%d].%w", i, err)
		}
	}
	return v.validateWhole()
}

// validateWhole checks the fields of the interval besides its pods, and what these have together.
func (v *Interval) validateWhole() error {
	if err := nodeName(v.Node); err != nil {
		return err
	}
	if !(v.Seconds > 0) || math.IsInf(v.Seconds, 0) {
		return fmt.Errorf("seconds: %v is not above 0 and finite", v.Seconds)
	}
	if v.Seconds < Instant {
		return fmt.Errorf("seconds: %v is less than %v", v.Seconds, Instant)
	}
	if err := amounts(amount{"seconds", v.Seconds}); err != nil {
		return err
	}
	if v.CPUs < 1 {
		return fmt.Errorf("cpus: %d is less than 1", v.CPUs)
	}
	if v.CgroupVersion < 0 || v.CgroupVersion > 2 {
		return fmt.Errorf("cgroupVersion: %d is not 1 or 2", v.CgroupVersion)
	}
	if v.LeftOut < 0 {
		return fmt.Errorf("leftOut: %d is less than 0", v.LeftOut)
	}
	if err := amounts(amount{"busySeconds", v.BusySeconds}, amount{"stolenSeconds", v.StolenSeconds}); err != nil {
		return err
	}
	seen, containers := make(map[string]bool, len(v.Pods)), 0
	for i := range v.Pods {
		p := &v.Pods[i]
		if seen[p.UID] {
			return fmt.Errorf("pods[%d].uid: %q is there twice", i, p.UID)
		}
		seen[p.UID] = true
		if containers += len(p.Containers); containers > MaxAllContainers {
			return fmt.Errorf("pods[%d].containers: with those of the pods before they are more than %d", i, MaxAllContainers)
		}
	}
	return v.validateDisks()
}

func (p *Pod) validate() error {
	if err := p.validateIdentity(); err != nil {
		return err
	}
	return p.validateDoings()
}

// validateDoings checks the activity of a pod, named or not.
func (p *Pod) validateDoings() error {
	if p.Tasks < 0 {
		return fmt.Errorf("tasks: %d is less than 0", p.Tasks)
	}
	if !(p.Threads >= 1) || math.IsInf(p.Threads, 0) {
		return fmt.Errorf("threads: %v is not at least 1 and finite", p.Threads)
	}
	if !(p.Dilation >= 1) || math.IsInf(p.Dilation, 0) {
		return fmt.Errorf("dilation: %v is not at least 1 and finite", p.Dilation)
	}
	err := amounts(amount{"threads", p.Threads}, amount{"dilation", p.Dilation}, amount{"seconds", p.Seconds}, amount{"cpuLoading", p.CPULoading},
		amount{"diskLoading", p.DiskLoading})
	if err != nil {
		return err
	}
	if !(p.SlowedSeconds >= 0 && p.SlowedSeconds <= maxLifetime) {
		return fmt.Errorf("slowedSeconds: %v is not from 0 to %v", p.SlowedSeconds, maxLifetime)
	}
	if !(p.BurstSeconds >= 0 && p.BurstSeconds <= maxLifetime) {
		return fmt.Errorf("burstSeconds: %v is not from 0 to %v", p.BurstSeconds, maxLifetime)
	}
	const rounding = 1e-6
	if sum := p.CPULoading + p.DiskLoading; sum > 1+rounding {
		return fmt.Errorf("cpuLoading: with diskLoading it is %v, more than 1", sum)
	}
	if p.PressureSeconds != nil {
		if err := amounts(amount{"pressureSeconds", *p.PressureSeconds}); err != nil {
			return err
		}
	}
	if err := p.Times.validate(); err != nil {
		return err
	}
	if err := p.validateDisks(); err != nil {
		return err
	}
	return p.validateContainers()
}

func (p *Pod) validateContainers() error {
	if len(p.Containers) > MaxContainers {
		return fmt.Errorf("containers: %d are more than %d", len(p.Containers), MaxContainers)
	}
	for i := range p.Containers {
		c := &p.Containers[i]
		if !IsContainerID(c.ID) {
			return fmt.Errorf("containers[%d].id: %.64q is not from 1 to %d letters, digits, dots, dashes and underscores", i, c.ID, maxContainerID)
		}
		if err := c.validate(); err != nil {
			return fmt.Errorf("containers[%d].%w", i, err)
		}
	}
	return nil
}

// validate checks the activity of a container.
func (c *Container) validate() error {
	const rounding = 1e-6
	switch {
	case c.Threads != 0 && (!(c.Threads >= 1) || math.IsInf(c.Threads, 0)):
		return fmt.Errorf("threads: %v is not at least 1 and finite", c.Threads)
	case c.Dilation != 0 && !(c.Dilation >= 1 && c.Dilation <= maxAmount):
		return fmt.Errorf("dilation: %v is not from 1 to %v", c.Dilation, maxAmount)
	case !(c.CPULoading >= 0 && c.CPULoading <= 1+rounding):
		return fmt.Errorf("cpuLoading: %v is not from 0 to 1", c.CPULoading)
	case !(c.BurstSeconds >= 0 && c.BurstSeconds <= maxLifetime):
		return fmt.Errorf("burstSeconds: %v is not from 0 to %v", c.BurstSeconds, maxLifetime)
	case !(c.QuotaBurstSeconds >= 0 && c.QuotaBurstSeconds <= maxLifetime):
		return fmt.Errorf("quotaBurstSeconds: %v is not from 0 to %v", c.QuotaBurstSeconds, maxLifetime)
	case c.Periods < 0:
		return fmt.Errorf("periods: %d is less than 0", c.Periods)
	case c.ThrottledPeriods < 0 || c.ThrottledPeriods > c.Periods:
		return fmt.Errorf("throttledPeriods: %d is not from 0 to periods, %d", c.ThrottledPeriods, c.Periods)
	}
	return c.Times.validate()
}

func (t *Times) validate() error {
	return amounts(amount{"runSeconds", t.Run}, amount{"unseenSeconds", t.Unseen}, amount{"waitSeconds", t.Wait},
		amount{"throttledSeconds", t.Throttled}, amount{"blockedSeconds", t.Blocked})
}

type amount struct {
	field string
	value float64
}

// amounts returns an error that names the first value that is not finite and at least 0, or more than any is.
func amounts(all ...amount) error {
	for _, a := range all {
		if !(a.value >= 0) || math.IsInf(a.value, 0) {
			return fmt.Errorf("%s: %v is not at least 0 and finite", a.field, a.value)
		}
		if a.value > maxAmount {
			return fmt.Errorf("%s: %v is more than %v", a.field, a.value, maxAmount)
		}
	}
	return nil
}
