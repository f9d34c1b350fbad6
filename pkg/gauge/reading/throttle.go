package reading

// throttle subtracts throttling from the waiting of the tasks of a pod.
//
// Each second that a group is held back on a processor is in the account of the group once, and in the waiting of each task that
// could have run there. The number of these tasks is not accounted. A queue that was not empty for d + r seconds, in r of which
// it ran one of its tasks and in d of which it was held back, kept its tasks from sleeping for n·(d + r) seconds in all if they
// were n, so
//
//	n = (Σ run + Σ wait) / (d + Σ run)
//
// That is too many where others ran meanwhile, so n is at most the tasks alike active per processor that they were on, and at
// least 1. Under limits of 20 to 40 % on one and two processors the result is within 4 % of the waiting of 1 to 8 tasks that do
// nothing but run, on Linux 6.1 and 6.18.
//
// Where the account has no Held, the limits of a pod and of its container are in two accounts. On Linux 6.1 both have all of the
// time for which they held a container back together; on 6.18 each has a part. So their sum is taken, bounded by the time that
// the processors of the group did not run, and by the waiting of its tasks.
func (c *comparison) throttle(before, after *Pod, groups []change) {
	around := grown(before.Throttled, after.Throttled)
	waited := 0.0
	for i := range groups {
		waited += groups[i].waited()
	}
	for i := range groups {
		group := &groups[i]
		wait := group.waited()
		if wait <= 0 {
			continue
		}
		if group.within {
			group.held += around * wait / waited
		}
		share := heldBack(group.items, group.held, c.span) / wait
		for j := range group.items {
			item := &group.items[j]
			item.throttled = item.wait * share
			item.wait -= item.throttled
		}
	}
}

// heldBack returns how much of the waiting of tasks was throttling, if their group was held back for some time, summed over
// processors, in an interval of seconds.
func heldBack(items []item, held, seconds float64) float64 {
	var run, wait, squares float64
	processors := map[int]bool{}
	for i := range items {
		item := &items[i]
		if a := item.run + item.wait; a > 0 {
			run += item.run
			wait += item.wait
			squares += a * a
			processors[item.cpus[0]], processors[item.cpus[1]] = true, true
		}
	}
	held = bound(held, float64(len(processors))*seconds-run)
	if held == 0 || wait == 0 {
		return 0
	}
	alike := (run + wait) * (run + wait) / squares
	each := max(1, min((run+wait)/(held+run), alike/float64(len(processors))))
	return min(held*each, wait)
}
