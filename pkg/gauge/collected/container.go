package collected

import (
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"math"
	"slices"

	"loadline.dev/loadline/pkg/gauge/usage"
)

// mostContainers is how many containers of a pod are kept, those that were throttled for longest.
const mostContainers = 8

// container holds the usage of a container in an interval, as in [usage.Container].
type container struct {
	id                                      string
	run, unseen, wait, throttled, blocked   float64
	threads, dilation, cpuLoading, burst    float64 // 0 where they are unknown
	periods, throttledPeriods, quotaSeconds float64
}

// fields are the numbers of a container in the order in which they are kept.
func (c *container) fields() [12]field {
	return [...]field{
		{&c.run, milli},
		{&c.unseen, milli},
		{&c.wait, milli},
		{&c.throttled, milli},
		{&c.blocked, milli},
		{&c.threads, milli},
		{&c.dilation, tenth},
		{&c.cpuLoading, tenth},
		{&c.burst, micro},
		{&c.periods, 1},
		{&c.throttledPeriods, 1},
		{&c.quotaSeconds, micro},
	}
}

// limited returns the containers of a pod that have a CPU limit, as far as they are kept.
func limited(p *usage.Pod) []container {
	var all []container
	for i := range p.Containers {
		c := &p.Containers[i]
		if c.Periods == 0 && c.Throttled <= 0 {
			continue
		}
		all = append(all, container{
			id: c.ID, run: c.Run, unseen: c.Unseen, wait: c.Wait, throttled: c.Throttled, blocked: c.Blocked, threads: c.Threads, dilation: c.Dilation,
			cpuLoading: c.CPULoading, burst: c.BurstSeconds, periods: float64(c.Periods), throttledPeriods: float64(c.ThrottledPeriods), quotaSeconds: c.QuotaBurstSeconds,
		})
	}
	slices.SortStableFunc(all, func(a, b container) int { return cmp.Compare(b.throttled, a.throttled) })
	return all[:min(len(all), mostContainers)]
}

// usageOf returns the usage of a container.
func (c *container) usageOf() usage.Container {
	return usage.Container{
		ID: c.id, Times: usage.Times{Run: c.run, Unseen: c.unseen, Wait: c.wait, Throttled: c.throttled, Blocked: c.blocked},
		Threads: known(c.threads), Dilation: known(c.dilation), CPULoading: min(1, c.cpuLoading), BurstSeconds: c.burst,
		Periods: int64(c.periods), ThrottledPeriods: int64(min(c.throttledPeriods, c.periods)), QuotaBurstSeconds: c.quotaSeconds,
	}
}

// known returns a number that is at least 1, or 0 where it is unknown.
func known(x float64) float64 {
	if x == 0 {
		return 0
	}
	return max(1, x)
}

// add adds the usage of the container in the interval that follows.
func (c *container) add(next *container) {
	mine, its := c.alone(), next.alone()
	either := func(a, wa, b, wb float64) float64 {
		if a == 0 || b == 0 {
			return max(a, b) // the known one
		}
		return mean(a, wa, b, wb)
	}
	if mine+its > 0 {
		c.dilation = known((mine*c.dilation + its*next.dilation) / (mine + its))
	} else {
		c.dilation = max(c.dilation, next.dilation)
	}
	c.cpuLoading = either(c.cpuLoading, mine, next.cpuLoading, its)
	c.threads = either(c.threads, c.run, next.threads, next.run)
	c.burst = either(c.burst, c.run, next.burst, next.run)
	c.run += next.run
	c.unseen += next.unseen
	c.wait += next.wait
	c.throttled += next.throttled
	c.blocked += next.blocked
	c.periods += next.periods
	c.throttledPeriods += next.throttledPeriods
	c.quotaSeconds = max(c.quotaSeconds, next.quotaSeconds)
}

// alone returns for how long the threads would have taken without waiting, 0 where that is unknown.
func (c *container) alone() float64 {
	if c.cpuLoading <= 0 || c.dilation < 1 {
		return 0
	}
	return c.run / c.cpuLoading
}

// hexID is the number of bytes of the IDs that container runtimes make, which are written as hexadecimal digits.
const hexID = 32

// pack appends a container. An ID begins with its length, and one of a runtime with 0.
func (c *container) pack(to []byte) []byte {
	if id, err := hex.DecodeString(c.id); err == nil && len(id) == hexID && hex.EncodeToString(id) == c.id {
		to = append(append(to, 0), id...)
	} else {
		to = append(append(to, byte(len(c.id))), c.id...)
	}
	for _, f := range c.fields() {
		to = binary.AppendUvarint(to, uint64(math.Round(min(*f.value, most)*f.parts)))
	}
	return to
}

// unpackContainer returns a container from the beginning of a text of pack, and what follows.
func unpackContainer(packed []byte) (c container, rest []byte) {
	length := int(packed[0])
	packed = packed[1:]
	if length == 0 {
		c.id, packed = hex.EncodeToString(packed[:hexID]), packed[hexID:]
	} else {
		c.id, packed = string(packed[:length]), packed[length:]
	}
	for _, f := range c.fields() {
		value, n := binary.Uvarint(packed)
		packed = packed[n:]
		*f.value = float64(value) / f.parts
	}
	return c, packed
}

// together returns the containers that two intervals which follow each other both have: of one that was not there throughout, what it did
// in part of the time would be taken for all of it.
func together(first, next []container) []container {
	var both []container
	for i := range first {
		k := slices.IndexFunc(next, func(c container) bool { return c.id == first[i].id })
		if k < 0 {
			continue
		}
		c := first[i]
		c.add(&next[k])
		both = append(both, c)
	}
	return both
}
