package loading

import "loadline.dev/loadline/pkg/model/throttling"

// load returns the demand as package throttling takes it.
func (d Demand) load() throttling.Load {
	return throttling.Load{Threads: d.ThreadCount(), Loading: d.Loading, Burst: d.Burst}
}

// Within returns the limit that holds on average where the job has a quota of limit servers, above 0, in each period of
// [throttling.Period]. If the quota stops the job's bursts although it uses less than the limit, this is the usage of the job alone
// with that quota; otherwise it is the limit. For a demand without a Burst it is the limit.
//
// [Share.Limit] holds on average: with this limit the job alone takes as long as with the quota, and is stopped for less where it
// waits for others.
func (d Demand) Within(limit float64) float64 {
	stretch := d.load().Stretch(limit)
	if uses := d.Loading * float64(d.ThreadCount()); stretch > 1 && uses > 0 {
		return min(limit, uses/stretch)
	}
	return limit
}

// Under returns the share of a job with a demand that has a quota of some servers, above 0, in each period.
func (s Share) Under(quota float64, d Demand) Share {
	s.Limit, s.Quota = d.Within(quota), 0
	if d.Burst > 0 {
		s.Quota = quota
	}
	return s
}

// LongestStretch returns the largest factor by which a quota of limit servers, above 0, lengthens the job's time alone, for bursts
// of any length up to longest, in seconds; 0 stands for any length.
func (d Demand) LongestStretch(limit, longest float64) float64 {
	l := d.load()
	if longest == 0 {
		return l.Longest(limit)
	}
	l.Burst = longest
	return l.Stretch(limit)
}
