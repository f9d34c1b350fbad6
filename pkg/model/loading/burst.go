package loading

import "loadline.dev/loadline/pkg/model/throttling"

// load returns the demand as package throttling takes it.
func (d Demand) load() throttling.Load {
	return throttling.Load{Threads: d.ThreadCount(), Loading: d.Loading, Burst: d.Burst}
}

// Within returns the limit that holds on average where the job has a quota of limit servers, above 0, in each period of
// [throttling.Period]: what the job uses alone with that quota, if this stops its bursts though it uses less than the limit, and else
// the limit. That of a demand without a Burst is the limit.
//
// [Share.Limit] holds on average: with this one the job takes as long alone as the quota makes it take, and is stopped for less
// where it waits for others.
func (d Demand) Within(limit float64) float64 {
	stretch := d.load().Stretch(limit)
	if uses := d.Loading * float64(d.ThreadCount()); stretch > 1 && uses > 0 {
		return min(limit, uses/stretch)
	}
	return limit
}

// LongestStretch returns how many times longer at most a quota of limit servers, above 0, makes what the job takes alone, however long
// its bursts are, if they are no longer than longest, in seconds; 0 stands for any length.
func (d Demand) LongestStretch(limit, longest float64) float64 {
	l := d.load()
	if longest == 0 {
		return l.Longest(limit)
	}
	l.Burst = longest
	return l.Stretch(limit)
}
