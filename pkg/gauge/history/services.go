package history

import (
	"cmp"
	"math/bits"
	"slices"

	"loadline.dev/loadline/pkg/gauge/usage"
)

// What counts as quiet, and how much is remembered.
const (
	// An interval counts for a direction with at least leastOperations, and leastSeconds in flight: the kernel shows whole
	// milliseconds, which are then at most a twentieth.
	leastOperations = 10
	leastSeconds    = 0.02
	// remembered is how many quiet intervals of a class are remembered, the latest. The median of 31 has a standard error of 0.23 of the
	// standard deviation of the intervals, and is right while less than half of them are not quiet in truth.
	remembered = 31
	// maxServed is how many devices are remembered: those that did something last.
	maxServed = 2 * usage.MaxDisks
)

// levels are mean numbers of operations in flight, while a device was busy. Up to the first one it was quiet: an operation that met another one
// waits at most for that, and of operations that arrive at random, few of which meet, at most about a tenth of the time is then waiting. Up to
// another one the time of an operation is an upper bound of what it takes on the quiet device: too long by no more than the factor of the level.
var levels = [...]float64{1.1, 1.25, 1.5, 2, 3, 5, 8, 16, 32, 64}

// services learns what operations take on quiet devices, by their names: the median of the mean time of an operation over the
// last quiet intervals of its class, which is a direction and a power of two of the mean size. Of a device that was never quiet, as below a
// database, they are the intervals of the lowest level instead.
//
// The median changes when half of what is remembered did, so that a device that became slower shows it after some quiet intervals,
// and few intervals that only look quiet do not move it. Those are of bursts that are shorter than a tick of the kernel's timer: the
// kernel counts the device as busy for the whole tick, so that the mean in flight is low. Where most intervals are like that, as of a
// fast device with a bursty load, the estimate has the waiting within the bursts, and is too high. It is too low where a cache of the
// device answers, as it does for writes. Operations of different sizes in an interval are taken for ones of their mean size.
type services map[string]*service

// service is that of a device.
type service struct {
	number string
	// unused is for how many intervals the device did nothing.
	unused  int
	classes map[class]*latest
}

// class is a direction and the exponent of the upper end of a class of sizes.
type class struct {
	direction string
	exponent  int
}

// latest are the mean times of an operation in the last intervals of a level, in seconds, with the mean sizes, and where the next one goes: of the
// lowest level that there was.
type latest struct {
	level          int
	seconds, bytes []float32
	next           int
}

// learn learns from the disks of an interval, and writes into it what is known of them.
func (s services) learn(v *usage.Interval) {
	for _, known := range s {
		known.unused++
	}
	for i := range v.Disks {
		d := &v.Disks[i]
		known := s[d.Name]
		if known == nil || known.number != d.Number {
			known = &service{number: d.Number, classes: map[class]*latest{}}
			s[d.Name] = known
		}
		known.unused = 0
		if level, is := levelOf(d); is {
			data := d.Data()
			known.add(level, usage.Read, &d.Reads)
			known.add(level, usage.Write, &data)
			if d.Flushes != nil { // the size is what was written for each
				known.add(level, usage.Flush, &usage.Transfers{Operations: d.Flushes.Operations, Bytes: data.Bytes, Seconds: d.Flushes.Seconds})
			}
		}
		d.Service = known.report()
	}
	s.forget()
}

// levelOf returns the level of what a device did, as an index, and whether it has one.
func levelOf(d *usage.Disk) (level int, is bool) {
	level = slices.IndexFunc(levels[:], func(most float64) bool { return inFlight(d) <= most*d.BusySeconds })
	return level, level >= 0 && d.BusySeconds > 0
}

// inFlight is for how long reads and writes were in flight, summed over them. Emptying the device's cache is not in it, since the write that waits
// for that is in flight meanwhile.
func inFlight(d *usage.Disk) float64 {
	if d.Flushes == nil {
		return d.QueuedSeconds
	}
	return d.QueuedSeconds - d.Flushes.Seconds
}

// add adds the operations of a direction in an interval of a level, if they are enough.
func (s *service) add(level int, direction string, t *usage.Transfers) {
	if t.Operations < leastOperations || t.Seconds < leastSeconds {
		return
	}
	c := class{direction, exponent(t.Bytes / t.Operations)}
	of := s.classes[c]
	if of == nil || level < of.level {
		of = &latest{level: level}
		s.classes[c] = of
	}
	if level == of.level {
		of.add(float32(t.Seconds/float64(t.Operations)), float32(t.Bytes)/float32(t.Operations))
	}
}

// exponent returns the exponent of the class of a size: of the next power of two, within those that are reported.
func exponent(size int64) int {
	bounded := min(max(size, usage.MinServiceBytes), usage.MaxServiceBytes)
	return bits.Len64(uint64(bounded - 1))
}

func (c *latest) add(seconds, bytes float32) {
	if len(c.seconds) < remembered {
		c.seconds, c.bytes = append(c.seconds, seconds), append(c.bytes, bytes)
		return
	}
	c.seconds[c.next], c.bytes[c.next] = seconds, bytes
	c.next = (c.next + 1) % remembered
}

// report returns what is known, by direction and in the order of sizes.
func (s *service) report() []usage.DiskService {
	var all []usage.DiskService
	for c, of := range s.classes {
		sorted := slices.Sorted(slices.Values(of.seconds))
		next := usage.DiskService{
			Direction: c.direction, Bytes: 1 << c.exponent, MeanBytes: mean(of.bytes), Intervals: len(sorted),
			Seconds: quantile(sorted, 0.5), Spread: (quantile(sorted, 0.75) - quantile(sorted, 0.25)) / 2,
		}
		if of.level > 0 {
			next.InFlight = levels[of.level]
		}
		all = append(all, next)
	}
	slices.SortFunc(all, func(a, b usage.DiskService) int {
		return cmp.Or(cmp.Compare(a.Direction, b.Direction), cmp.Compare(a.Bytes, b.Bytes))
	})
	return all
}

// mean returns that of some values, at least one.
func mean(values []float32) float64 {
	sum := 0.0
	for _, v := range values {
		sum += float64(v)
	}
	return sum / float64(len(values))
}

// quantile returns that of sorted values, at least one, between the two that are next to it.
func quantile(sorted []float32, q float64) float64 {
	at := q * float64(len(sorted)-1)
	low := int(at)
	high := min(low+1, len(sorted)-1)
	part := at - float64(low)
	return float64(sorted[low])*(1-part) + float64(sorted[high])*part
}

// forget forgets the devices that did nothing for longest, where there are too many.
func (s services) forget() {
	for len(s) > maxServed {
		longest := ""
		for name, known := range s {
			if longest == "" || known.unused > s[longest].unused || known.unused == s[longest].unused && name < longest {
				longest = name
			}
		}
		delete(s, longest)
	}
}
