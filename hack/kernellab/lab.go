package main

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"

	"loadline.dev/loadline/hack/kernellab/mixes"
	"loadline.dev/loadline/pkg/cgroup"
)

// settings are how the kernel is set up.
type settings struct {
	cgroup int     // version of control groups
	settle float64 // seconds between booting and the first mix
	groups string  // path of a pod's control group, with a format of printf for its number

	processors int
	cpus       int // for which the scheduler chooses its slices, 0 for processors
}

// maxProcessors is what pace.c has room for.
const maxProcessors = 16

// factor returns how many times longer the scheduler's slices are than it chooses on the processors that there are. They are
// proportional to 1 + log₂ of the number of processors, rounded down, of which 8 count: kernel/sched/fair.c,
// get_update_sysctl_factor.
func (s *settings) factor() float64 {
	const most = 8
	of := func(processors int) float64 { return float64(bits.Len(uint(min(processors, most)))) }
	if s.cpus == 0 {
		return 1
	}
	return of(s.cpus) / of(s.processors)
}

// experiment is some mixes, each of whose pods runs alone, too.
type experiment struct {
	settings
	rows     []mixes.Row
	hz       int                // ticks per second of the kernel
	progress func(name string)  // called with each mix, or pod alone, that is done
	solo     map[string]soloRun // by what the guest is told of the pod

	// What the guest has said.
	kernel   string
	slice    int
	accounts map[string]mixes.Account // by the name of a mix and the number of a pod
	last     string                   // mix
	observed map[string][]byte        // by mix, by a gauge
}

// soloRun is a pod that runs alone.
type soloRun struct {
	name    string
	seconds float64
}

func newExperiment(rows []mixes.Row, hz int, s settings, progress func(name string)) *experiment {
	return &experiment{settings: s, rows: rows, hz: hz, progress: progress, solo: map[string]soloRun{}, accounts: map[string]mixes.Account{}, observed: map[string][]byte{}}
}

// soloSeconds returns for how long a pod runs alone: as long as beside others, unless it does often enough there what it does in less. A
// thread without a limit waits for nothing, so that its random numbers hardly matter.
func soloSeconds(r *mixes.Row) float64 {
	cycles, least := 1000.0, 20.0
	if r.Limit == 0 && r.Threads == 1 {
		cycles, least = 50, 5
	}
	return min(r.Seconds, math.Ceil(max(least, cycles*r.Burst/1000/r.Loading)))
}

// text returns what the guest runs: pods alone first, each once, as they are named.
func (e *experiment) text() string {
	var single, together strings.Builder
	for _, mix := range mixes.ByMix(e.rows) {
		fmt.Fprintf(&together, "%s %g", mix[0].Mix, mix[0].Seconds)
		for i := range mix {
			r := &mix[i]
			fmt.Fprintf(&together, " %s", guestPod(r, e.weight(r)))
			key := aloneKey(r)
			if _, known := e.solo[key]; known {
				continue
			}
			s := soloRun{fmt.Sprintf("alone/%d", len(e.solo)+1), soloSeconds(r)}
			e.solo[key] = s
			fmt.Fprintf(&single, "%s %g %s\n", s.name, s.seconds, guestPod(r, e.weightOf(1000)))
		}
		together.WriteByte('\n')
	}
	return fmt.Sprintf("%d %g %g %s\n%s%s", e.cgroup, e.settle, e.factor(), e.groups, &single, &together)
}

// aloneKey returns what a pod's time alone depends on: not on its weight.
func aloneKey(r *mixes.Row) string {
	return fmt.Sprintf("%g %s", soloSeconds(r), guestPod(r, 0))
}

// guestPod returns a pod as guest.c reads it.
func guestPod(r *mixes.Row, weight int) string {
	forks := 0
	if r.Forks {
		forks = 1
	}
	return fmt.Sprintf("%d:%d:%d:%g:%g:%d:%s:%d:%d", weight, r.Limit, r.Spare, r.Loading, r.Burst, r.Threads, r.Kind[:1], forks, r.Seed)
}

func (e *experiment) weight(r *mixes.Row) int { return e.weightOf(r.Request) }

// weightOf returns what the kubelet makes of a request: shares, or the weight that is their linear conversion.
func (e *experiment) weightOf(request int) int {
	conversion := cgroup.Linear
	if e.cgroup == 1 {
		conversion = cgroup.None
	}
	return int(conversion.Weight(cgroup.Shares(int64(request))))
}

// hear takes a line of what the guest says.
func (e *experiment) hear(line string) error {
	cells := strings.Split(line, ",")
	switch {
	case cells[0] == "kernel" && len(cells) == 4:
		e.kernel = cells[1]
		slice, err := strconv.Atoi(cells[2])
		e.slice = slice
		return err
	case cells[0] == "gauge" && len(cells) > 2:
		said := strings.SplitN(line, ",", 3)
		e.observed[said[1]] = append(e.observed[said[1]], said[2]+"\n"...)
		return nil
	}
	const numbers = 9
	if len(cells) != 2+numbers {
		return fmt.Errorf("guest: %q is no line of results", line)
	}
	var n [numbers]float64
	for i := range n {
		var err error
		if n[i], err = strconv.ParseFloat(cells[2+i], 64); err != nil {
			return fmt.Errorf("guest: %q: %w", line, err)
		}
	}
	e.accounts[cells[0]+","+cells[1]] = mixes.Account{
		Bursts: int(n[0]), Own: n[1], Computed: n[2], Run: n[3], Wait: n[4], Slices: int(n[5]),
		Periods: int(n[6]), Throttled: int(n[7]), Held: n[8],
	}
	if e.last != cells[0] {
		e.last = cells[0]
		e.progress(e.last)
	}
	return nil
}

// results returns the rows with what the guest said of them.
func (e *experiment) results() ([]mixes.Row, error) {
	for i := range e.rows {
		r := &e.rows[i]
		single := e.solo[aloneKey(r)]
		r.Kernel, r.HZ, r.Slice, r.Processors = e.kernel, e.hz, e.slice, e.processors
		r.Cgroup, r.Weight, r.AloneSeconds = e.cgroup, e.weight(r), single.seconds
		for _, w := range []struct {
			account *mixes.Account
			line    string
			seconds float64
		}{
			{&r.Alone, single.name + ",1", single.seconds},
			{&r.Together, fmt.Sprintf("%s,%d", r.Mix, r.Pod), r.Seconds},
		} {
			found, ok := e.accounts[w.line]
			if !ok || found.Own == 0 {
				return nil, fmt.Errorf("mix %s: pod %d did nothing in %g s", r.Mix, r.Pod, w.seconds)
			}
			*w.account = found
			w.account.Sleep = max(0, float64(r.Threads)*w.seconds-found.Run-found.Wait)
		}
		r.SetDilation()
	}
	return e.rows, nil
}
