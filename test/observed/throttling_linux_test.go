package observed

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"loadline.dev/loadline/pkg/evaluate/findings"
	"loadline.dev/loadline/test/oracle/linuxsched"
)

var (
	bursty        = flag.Int("bursty", 0, "pods that their limits throttle in bursts, of which the proposed limits are set; needs root")
	burstySeconds = flag.Float64("bursty-seconds", 30, "for how long a pod is observed with the proposed limit")
)

// Pods of random bursts, of constant ones at random times, and of constant ones at regular times are throttled by their limits on
// two processors; some may use what earlier periods left over. The limit that is proposed for each is set, and must end that.
func TestAProposedLimitEndsTheThrottling(t *testing.T) {
	if *bursty == 0 {
		t.Skip("run it as root on a machine of two processors with little to do: go test ./test/observed -run EndsTheThrottling -v -timeout 1h -args -bursty 20 -interval 5s")
	}
	rng := rand.New(rand.NewPCG(*mixSeed, 6))
	var all throttlings
	for run := range *bursty {
		p := anyBursty(rng, run)
		t.Run(strconv.Itoa(run), func(t *testing.T) {
			if got, ok := p.throttling(t); ok {
				all = append(all, got)
				t.Log(&p, &got)
			}
		})
	}
	t.Logf("%s", all)
	if err := checkThrottling(all, *bursty); err != nil {
		t.Error(err)
	}
}

// burstyPod is a pod of one container whose limit throttles it.
type burstyPod struct {
	threads int
	loading float64       // of each, alone
	burst   time.Duration // mean
	random  linuxsched.Shape
	regular bool // constant sleeps; otherwise they are exponentially distributed
	limit   float64
	saved   time.Duration // what earlier periods left over that it may use
	seed    uint64
}

func (p *burstyPod) String() string {
	kind := "random"
	switch {
	case p.regular:
		kind = "regular"
	case p.random == linuxsched.Constant:
		kind = "constant"
	}
	return fmt.Sprintf("%-8s bursts of %3d ms, threads %d, loading %.2f, limit %.2f, saves %2d ms:", kind, p.burst.Milliseconds(), p.threads, p.loading, p.limit, p.saved.Milliseconds())
}

// anyBursty draws a pod that its limit throttles.
func anyBursty(rng *rand.Rand, run int) burstyPod {
	for {
		p := burstyPod{
			threads: 1 + rng.IntN(4), loading: 0.05 + 0.45*rng.Float64(), burst: time.Duration(5 * math.Pow(40, rng.Float64()) * float64(time.Millisecond)),
			seed: rng.Uint64(), regular: run%5 == 4,
		}
		if run%2 == 1 || p.regular {
			p.random = linuxsched.Constant
		}
		p.limit = math.Round(100*p.loading*float64(p.threads)*(0.8+0.7*rng.Float64())) / 100
		if run%4 > 1 {
			p.saved = time.Duration((0.2 + 0.8*rng.Float64()) * p.limit * float64(100*time.Millisecond)).Round(time.Millisecond)
		}
		const worthIt, processors = 0.3, 2
		if p.loading*float64(p.threads) < 0.4*processors && p.limit > 0.06 && p.limit < float64(min(p.threads, processors)) && p.loading*p.simulated(p.limit, time.Minute) > worthIt {
			return p
		}
	}
}

// turns is a program of bursts and sleeps, of means.
type turns struct {
	pod    *burstyPod
	sleep  time.Duration
	asleep bool
	random *rand.Rand
}

// Next implements [linuxsched.Program].
func (p *turns) Next() linuxsched.Step {
	p.asleep = !p.asleep
	s := linuxsched.Step{Kind: linuxsched.Compute, Length: p.pod.burst}
	random := p.pod.random == linuxsched.Exponential
	if p.asleep {
		s, random = linuxsched.Step{Kind: linuxsched.Sleep, Length: p.sleep}, !p.pod.regular
	}
	if random {
		s.Length = time.Duration(float64(s.Length) * p.random.ExpFloat64())
	}
	return s
}

func (p *burstyPod) sleep() time.Duration { return time.Duration(float64(p.burst) * (1/p.loading - 1)) }

// simulated returns for how long a limit throttles the pod on a simulated kernel, in parts of the time that it runs.
func (p *burstyPod) simulated(limit float64, window time.Duration) float64 {
	pod := linuxsched.Pod{Group: linuxsched.Group{Quota: time.Duration(limit * float64(100*time.Millisecond)), Burst: p.saved}}
	for i := range p.threads {
		pod.Threads = append(pod.Threads, func() linuxsched.Program {
			r := rand.New(rand.NewPCG(p.seed, uint64(i)))
			return &turns{pod: p, sleep: p.sleep(), asleep: r.IntN(2) == 0, random: r}
		})
	}
	result, err := linuxsched.Machine{Kernel: linuxsched.Linux6_12(), CPUs: 2}.Run([]linuxsched.Pod{pod}, time.Second, window)
	if err != nil {
		panic(err)
	}
	return float64(result.Pods[0].Throttled) / float64(result.Pods[0].Run)
}

// smallest returns the smallest limit that ends the throttling on a simulated kernel.
func (p *burstyPod) smallest() float64 {
	window := max(time.Minute, 1000*time.Duration(float64(p.burst)/p.loading)/time.Duration(p.threads))
	low, high := p.loading*float64(p.threads)/2, float64(p.threads)
	for range 9 {
		if limit := math.Sqrt(low * high); p.simulated(limit, window) > maxThrottled {
			low = limit
		} else {
			high = limit
		}
	}
	return high
}

// throttling runs the pod with its limit, and with the one that is proposed.
func (p *burstyPod) throttling(t *testing.T) (got throttling, ok bool) {
	m := member{name: "victim"}
	m.Threads, m.CPUs, m.shares, m.limit, m.saved = p.threads, []int{0, 1}, 51, p.limit, p.saved
	m.Burst, m.Sleep, m.Seed = p.burst, p.sleep(), p.seed
	m.RandomBursts, m.RandomSleeps = p.random == linuxsched.Exponential, !p.regular
	s := settled(t, []member{m}, 2)
	defer s.stop(t)
	s.watch(t, 6)
	got.before, _ = s.throttled(t)
	answer := judge(t, s.in)
	f, _ := first(answer)
	if f == nil || f.Remedy.Action != findings.RaiseLimit {
		t.Logf("%s no limit is proposed: throttled for %.3f of its run time: %+v", p, got.before, answer.Pods)
		return got, false
	}
	got.proposed = f.Remedy.Limit.AsApproximateFloat64()
	s.groups.limit(t, filepath.Join(s.groups.root, "pod"+s.groups.uid(0), "container"), 1024, got.proposed, true)
	<-time.After(time.Second)
	s.watchFor(t, 1, time.Duration(*burstySeconds*float64(time.Second)))
	_, got.after = s.throttled(t)
	got.regular = p.regular
	got.simulated, got.smallest = p.simulated(p.limit, 2*time.Minute), p.smallest()
	return got, true
}

// throttled returns for how long the threads of the pod that compute were throttled, and all of its threads, of which the others are those of Go's
// runtime, in parts of the time that they ran.
func (s *scene) throttled(t *testing.T) (computing, all float64) {
	t.Helper()
	run := 0.0
	for _, v := range s.in.Sights[0].Intervals {
		for i := range v.Pods {
			p := &v.Pods[i]
			if p.UID != s.groups.uid(0) {
				continue
			}
			all += p.Throttled
			run += p.Run
			if p.Throttled > 0 {
				computing += p.Run / p.CPULoading * (p.Dilation - 1) * p.Throttled / (p.Throttled + p.Wait)
			}
		}
	}
	if run == 0 {
		t.Fatal("the pod did not run")
	}
	return computing / run, all / run
}
