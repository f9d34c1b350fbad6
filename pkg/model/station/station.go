package station

import "slices"

// Directions of operations. Writes are those of data, and flushes empty the device's own cache for writes that last.
const (
	Read = iota
	Write
	Flush
	Directions
)

// Flow is operations of a direction in an interval, none or at least one, and their bytes, at least 0.
type Flow struct{ Operations, Bytes float64 }

// size returns the mean size of an operation, in bytes. There is one.
func (f Flow) size() float64 { return f.Bytes / f.Operations }

// Work is operations in an interval, by their direction.
type Work [Directions]Flow

// add adds other work.
func (w *Work) add(other *Work) {
	for d := range w {
		w[d].Operations += other[d].Operations
		w[d].Bytes += other[d].Bytes
	}
}

// beyond returns what is more than other work, at least 0.
func (w *Work) beyond(other *Work) (more Work) {
	for d := range w {
		more[d] = Flow{max(0, w[d].Operations-other[d].Operations), max(0, w[d].Bytes-other[d].Bytes)}
	}
	return more
}

// Interval is what happened at a device in an interval.
type Interval struct {
	// Seconds is its length, above 0, and Busy for how much of it at least one operation was in flight.
	Seconds, Busy float64
	// Counted is all that the device did, and InFlight for how long the operations of a direction were in flight, in seconds, summed
	// over them: at least 0.
	Counted  Work
	InFlight [Directions]float64
	// Quiet is what an operation of a direction takes when the device is quiet, and Bounds what it takes at most, for classes of which that is not known.
	Quiet, Bounds [Directions]Service
	// Customers are those of which it is known what they had the device do.
	Customers []Customer
}

// Customer is one whose operations are known.
type Customer struct {
	Work
	// Threads is how many operations it has at a time at most, 0 where that is not known: then it is taken for no more than there were
	// on average.
	Threads float64
}

// Station is a device in an interval: for how long operations waited there, and for whose.
type Station struct {
	customers []customer
	// work and served are those of all customers.
	work, served float64
	// slower is how many times longer the device was busy than its operations take one after the other, at least 1.
	slower float64
}

// customer is one of a station, the last one all that the others are not known to have done.
type customer struct {
	Customer

	// each is what an operation of a direction takes, and stays for how long one is there, both in seconds.
	each, stays [Directions]float64
	// service and waited are for how long its operations were served and waited, in seconds, summed over them: of directions of which the
	// service is known.
	service, waited float64
	// inFlight is how many operations of it were in flight on average, work how many seconds these take, and served how many all of
	// its operations take.
	inFlight, work, served float64
}

// rounds is how often the waiting is divided among the customers, each time by what they have queued by the last one.
const rounds = 8

// New returns the station of an interval. It has one customer more: see [Station.Rest].
func New(v *Interval) *Station {
	var known Work
	for i := range v.Customers {
		known.add(&v.Customers[i].Work)
	}
	all := slices.Concat(v.Customers, []Customer{{Work: v.Counted.beyond(&known)}})
	s := &Station{customers: make([]customer, len(all)), slower: 1}
	each := v.each(all)
	for i := range all {
		s.customers[i] = v.customer(&all[i], each[i])
		s.served += s.customers[i].served
	}
	waits := [Directions]float64{}
	for d := range waits {
		waits[d] = s.waits(v, d)
	}
	for range rounds {
		s.queue(v)
		s.divide(waits)
	}
	s.queue(v)
	if s.served > 0 {
		s.slower = max(1, v.Busy/s.served)
	}
	return s
}

// significant is how many spreads longer than on the quiet device operations must take to have waited. For a normal distribution a spread is
// 0.67 standard deviations, so that all but a fortieth of quiet intervals stay below.
const significant = 3

// waits returns for how long an operation of a direction waited on average, in seconds. What all take on the quiet device is by the sizes of each
// customer's: a few large ones among many small ones take as long as they do, and not as if all were of the mean size.
func (s *Station) waits(v *Interval, d int) float64 {
	if v.Counted[d].Operations <= 0 || len(v.Quiet[d]) == 0 {
		return 0
	}
	var operations, quiet, spread float64
	for i := range s.customers {
		if f := s.customers[i].Work[d]; f.Operations > 0 {
			seconds, by := v.quiet(d, f.size())
			operations, quiet, spread = operations+f.Operations, quiet+f.Operations*seconds, spread+f.Operations*by
		}
	}
	if waited := v.InFlight[d]/v.Counted[d].Operations - quiet/operations; waited > significant*spread/operations {
		return waited
	}
	return 0
}

// each returns what an operation of each customer takes: no longer, all together, than operations of the direction were in flight, since the device
// may be faster than it was known, most of all for sizes that it did not have.
func (v *Interval) each(customers []Customer) (each [][Directions]float64) {
	each = make([][Directions]float64, len(customers))
	for d := range Directions {
		all := 0.0
		for i := range customers {
			if f := customers[i].Work[d]; f.Operations > 0 {
				each[i][d], _ = v.quiet(d, f.size())
				all += f.Operations * each[i][d]
			}
		}
		if all <= v.InFlight[d] {
			continue
		}
		for i := range each {
			each[i][d] *= v.InFlight[d] / all
		}
	}
	return each
}

// customer returns one before it is known for how long it waited, given what an operation of it takes.
func (v *Interval) customer(of *Customer, each [Directions]float64) (c customer) {
	c.Customer, c.each = *of, each
	for d, f := range of.Work {
		if f.Operations <= 0 {
			continue
		}
		c.served += f.Operations * c.each[d]
		if len(v.Quiet[d]) > 0 {
			c.service += f.Operations * c.each[d]
		}
		if all := v.Counted[d].Operations; all > 0 {
			c.stays[d] = max(c.each[d], v.InFlight[d]/all)
		}
	}
	return c
}

// quiet returns what an operation of a direction and a size takes when the device is quiet, and its spread: a read as long as a write where only that
// is known, and the other way round.
func (v *Interval) quiet(d int, bytes float64) (seconds, spread float64) {
	if len(v.Quiet[d]) == 0 && d != Flush {
		d = Read + Write - d
	}
	seconds, spread = v.Quiet[d].At(bytes, v.perByte())
	for _, most := range v.Bounds[d] {
		seconds = min(seconds, most.Seconds*max(1, bytes/most.Bytes))
	}
	return seconds, spread
}

// perByte is how long the device was busy for each byte, in seconds: what a further byte of an operation takes at most.
func (v *Interval) perByte() float64 {
	if bytes := v.Counted[Read].Bytes + v.Counted[Write].Bytes; bytes > 0 {
		return v.Busy / bytes
	}
	return 0
}

// queue works out what customers have queued, given for how long their operations stay.
func (s *Station) queue(v *Interval) {
	s.work = 0
	for i := range s.customers {
		c := &s.customers[i]
		c.inFlight, c.work = 0, 0
		for d, f := range c.Work {
			inFlight := f.Operations * c.stays[d] / v.Seconds
			c.inFlight += inFlight
			c.work += inFlight * c.each[d]
		}
		s.work += c.work
	}
}

// divide divides the waiting of each direction among customers by how much work their operations find.
func (s *Station) divide(waits [Directions]float64) {
	for i := range s.customers {
		s.customers[i].waited = 0
	}
	for d, each := range waits {
		if each <= 0 {
			continue
		}
		found, operations := 0.0, 0.0
		for i := range s.customers {
			n := s.customers[i].Work[d].Operations
			found += n * s.found(i)
			operations += n
		}
		for i := range s.customers {
			c := &s.customers[i]
			wait := each
			if found > 0 {
				wait *= s.found(i) / found * operations
			}
			c.stays[d] = c.each[d] + wait
			c.waited += c.Work[d].Operations * wait
		}
	}
}

// found returns the work that an operation of a customer finds queued: it does not find itself.
func (s *Station) found(i int) float64 { return s.others(i) + s.customers[i].own() }

// own returns the work that an operation finds queued of its own customer: that of all but one of its threads.
func (c *customer) own() float64 { return c.work * (1 - 1/max(1, c.Threads, c.inFlight)) }

// Rest is the index of the customer that is all which the device did and no other customer is known to have had it do.
func (s *Station) Rest() int { return len(s.customers) - 1 }

// Share returns the part of the waiting of a customer for others that is due to one of these, from 0 to 1. The shares of all add up to
// 1 if it waits for others.
func (s *Station) Share(waiting, due int) float64 {
	others := s.others(waiting)
	if waiting == due || others <= 0 {
		return 0
	}
	return min(1, s.customers[due].work/others)
}

// others returns the work of all customers but one: what is beyond a rounding error.
func (s *Station) others(i int) float64 {
	const rounding = 1e-12
	if others := s.work - s.customers[i].work; others > rounding*s.work {
		return others
	}
	return 0
}
