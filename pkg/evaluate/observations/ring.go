package observations

import "time"

// ring holds the sums of each of the last slots of time, and their numbers, counted from 1970. A slot whose number is 0 is not
// in use.
type ring[Sums any] struct {
	sums    [slots]Sums
	numbers [slots]int64
	last    time.Time
}

// sumsAt returns the sums of the slot of a moment, nil for one that is older than all slots.
func (r *ring[Sums]) sumsAt(moment time.Time, length time.Duration) *Sums {
	number := moment.UnixNano() / int64(length)
	k := number % slots
	if r.numbers[k] > number {
		return nil
	}
	if r.numbers[k] < number {
		var zero Sums
		r.sums[k], r.numbers[k] = zero, number
	}
	if moment.After(r.last) {
		r.last = moment
	}
	return &r.sums[k]
}

// each calls a function for the sums of each slot in use, of the last ones before now.
func (r *ring[Sums]) each(now time.Time, length time.Duration, f func(*Sums)) {
	latest := now.UnixNano() / int64(length)
	for k := range r.sums {
		if n := r.numbers[k]; n > 0 && n > latest-slots && n <= latest {
			f(&r.sums[k])
		}
	}
}
