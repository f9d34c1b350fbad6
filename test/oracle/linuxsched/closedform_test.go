package linuxsched_test

import (
	"math"
	"testing"
	"time"

	"loadline.dev/loadline/pkg/model/gps"
	"loadline.dev/loadline/pkg/model/throttling"
	"loadline.dev/loadline/test/oracle/linuxsched"
)

// kernels are those that can be simulated.
var kernels = map[string]linuxsched.Kernel{"6.1": linuxsched.Linux6_1(), "6.12": linuxsched.Linux6_12(), "6.18": linuxsched.Linux6_18()}

// fine returns a kernel that preempts twenty times as often and costs nothing, which comes close to generalized processor sharing.
func fine(k linuxsched.Kernel) linuxsched.Kernel {
	const times = 20
	k.HZ *= times
	k.Slice /= times
	k.Latency /= times
	k.MinGranularity /= times
	k.WakeupGranularity /= times
	k.Costs = linuxsched.Costs{}
	return k
}

// usage simulates pods for some seconds, after a second in which they settle.
func usage(t *testing.T, m linuxsched.Machine, pods []linuxsched.Pod, seconds int) []linuxsched.Usage {
	t.Helper()
	r, err := m.Run(pods, time.Second, time.Duration(seconds)*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	return r.Pods
}

// pod returns one with a number of equal threads.
func pod(weight, threads int, burst time.Duration, loading float64, seed uint64) linuxsched.Pod {
	p := linuxsched.Pod{Group: linuxsched.Group{Weight: weight}}
	for i := range threads {
		p.Threads = append(p.Threads, linuxsched.Bursts(burst, loading, linuxsched.Exponential, seed<<16+uint64(i)))
	}
	return p
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got/want-1) <= tolerance) {
		t.Errorf("%s: %.4f, want %.4f to within %.1f %%", what, got, want, 100*tolerance)
	}
}

// repairman returns how many times longer each of n equal threads takes that compute for a fraction of their time, on c
// processors that any of them can use: the machine repairman model.
func repairman(n, c int, loading float64) float64 {
	ratio := loading / (1 - loading)
	total, mean, p := 1.0, 0.0, 1.0
	for k := 1; k <= n; k++ {
		p *= float64(n-k+1) * ratio / float64(min(k, c))
		total += p
		mean += float64(k) * p
	}
	mean /= total // threads that compute or wait; the others sleep, which takes 1 - loading of their own time
	return (1 - loading) / (1 - mean/float64(n))
}

func TestEqualThreadsOnOneProcessorAreAMachineRepairman(t *testing.T) {
	t.Parallel()
	for name, k := range kernels {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, test := range []struct {
				n       int
				loading float64
			}{{2, 0.5}, {4, 0.2}, {6, 0.3}, {20, 0.04}} {
				var pods []linuxsched.Pod
				for i := range test.n {
					pods = append(pods, pod(100, 1, 20*time.Millisecond, test.loading, uint64(i)))
				}
				sum := 0.0
				for _, u := range usage(t, linuxsched.Machine{Kernel: fine(k), CPUs: 1}, pods, 300) {
					sum += u.Stretch()
				}
				near(t, "stretch", sum/float64(test.n), repairman(test.n, 1, test.loading), 0.015)
			}
		})
	}
}

func TestBusyThreadsShareAProcessorByWeight(t *testing.T) {
	t.Parallel()
	for name, k := range kernels {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			weights, sum := []int{1, 10, 100, 500}, 611.0
			var pods []linuxsched.Pod
			for i, w := range weights {
				pods = append(pods, pod(w, 1+i%2, time.Second, 1, uint64(i)))
			}
			k.Costs = linuxsched.Costs{}
			for i, u := range usage(t, linuxsched.Machine{Kernel: k, CPUs: 1}, pods, 100) {
				near(t, "run time", u.Run.Seconds(), 100*float64(weights[i])/sum, 0.03)
			}
		})
	}
}

func TestNestedGroupsShareByTheWeightsOfTheirLevels(t *testing.T) {
	t.Parallel()
	for name, k := range kernels {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k.Costs = linuxsched.Costs{}
			outer := &linuxsched.Group{Weight: 300}
			inner := &linuxsched.Group{Weight: 50, Parent: outer}
			pods := []linuxsched.Pod{pod(100, 1, time.Second, 1, 1), pod(150, 1, time.Second, 1, 2), pod(10, 1, time.Second, 1, 3), pod(30, 1, time.Second, 1, 4)}
			pods[1].Parent, pods[2].Parent, pods[3].Parent = outer, inner, inner
			want := []float64{1. / 4, 3. / 4 * 3 / 4, 3. / 4 / 4 / 4, 3. / 4 / 4 * 3 / 4}
			for i, u := range usage(t, linuxsched.Machine{Kernel: k, CPUs: 1}, pods, 100) {
				near(t, "run time", u.Run.Seconds()/100, want[i], 0.02)
			}
		})
	}
}

// The chain of package gps is exact for exponential bursts.
func TestFinePreemptionIsGeneralizedProcessorSharing(t *testing.T) {
	t.Parallel()
	for name, k := range kernels {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pods := []linuxsched.Pod{
				pod(10, 1, 10*time.Millisecond, 0.5, 1), pod(100, 1, 40*time.Millisecond, 0.4, 2), pod(300, 1, 20*time.Millisecond, 0.3, 3),
			}
			n := &gps.Network{Servers: []int{1}, Jobs: []gps.Job{
				{Demands: []float64{0.5}, Weight: 10, Burst: 1}, {Demands: []float64{0.4}, Weight: 100, Burst: 4}, {Demands: []float64{0.3}, Weight: 300, Burst: 2},
			}}
			want, err := gps.Exact(n, 1<<20)
			if err != nil {
				t.Fatal(err)
			}
			for i, u := range usage(t, linuxsched.Machine{Kernel: fine(k), CPUs: 1}, pods, 400) {
				near(t, "stretch", u.Stretch(), want.Responses[i], 0.025)
			}
		})
	}
}

// The formula of package throttling is exact for one thread whose quota ends at once.
func TestAQuotaAloneThrottlesAsItsLawSays(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		loading float64
		burst   time.Duration
		limit   float64
	}{
		{0.4, 100 * time.Millisecond, 0.5},
		{0.1, 50 * time.Millisecond, 0.2},
		{0.3, 5 * time.Millisecond, 0.35},
		{1, time.Second, 0.25},
		{0.5, 20 * time.Millisecond, 0.4},
	} {
		for _, name := range []string{"6.1", "6.12"} {
			k := kernels[name]
			p := pod(100, 1, test.burst, test.loading, 1)
			p.Quota = time.Duration(test.limit * float64(100*time.Millisecond))
			u := usage(t, linuxsched.Machine{Kernel: fine(k), CPUs: 1}, []linuxsched.Pod{p}, 800)[0]
			want := throttling.Load{Threads: 1, Loading: test.loading, Burst: test.burst.Seconds()}.Stretch(test.limit)
			near(t, name, u.Stretch(), want, 0.02)
		}
	}
}

func TestUnusedQuotaServesLaterBursts(t *testing.T) {
	t.Parallel()
	p := pod(100, 1, 50*time.Millisecond, 0.1, 1)
	p.Quota = 20 * time.Millisecond
	m := linuxsched.Machine{Kernel: linuxsched.Linux6_12(), CPUs: 1}
	without := usage(t, m, []linuxsched.Pod{p}, 300)[0].Stretch()
	p.Burst = 20 * time.Millisecond
	some := usage(t, m, []linuxsched.Pod{p}, 300)[0].Stretch()
	p.Burst = time.Second
	much := usage(t, m, []linuxsched.Pod{p}, 300)[0].Stretch()
	if !(without > some+0.05 && some > much+0.05 && much < 1.03) {
		t.Errorf("stretches of %v without bursts of the quota, %v with some, %v with many", without, some, much)
	}
}

// Equal threads on many processors come near to a single queue for all of them, from above.
func TestBalancingComesNearToOneQueue(t *testing.T) {
	t.Parallel()
	const cpus, n, loading = 8, 24, 0.25
	var pods []linuxsched.Pod
	for i := range n {
		pods = append(pods, pod(100, 1, 20*time.Millisecond, loading, uint64(i)))
	}
	for name, k := range kernels {
		for _, caches := range []int{1, 2} {
			sum := 0.0
			for _, u := range usage(t, linuxsched.Machine{Kernel: k, CPUs: cpus, Caches: caches}, pods, 60) {
				sum += u.Stretch() / n
			}
			one, own := repairman(n, cpus, loading), repairman(n/cpus, 1, loading)
			if sum < one || sum > one+0.5*(own-one) {
				t.Errorf("%s, %d caches: stretch %v, with one queue %v, with %d queues %v", name, caches, sum, one, cpus, own)
			}
		}
	}
}

func TestStationsHaveTheirProductForm(t *testing.T) {
	t.Parallel()
	for _, d := range []linuxsched.Discipline{linuxsched.FIFO, linuxsched.Sharing} {
		for _, servers := range []int{1, 2} {
			const n, loading = 6, 0.4
			var pods []linuxsched.Pod
			for i := range n {
				pods = append(pods, linuxsched.Pod{Threads: []func() linuxsched.Program{visitor(uint64(i), loading)}})
			}
			m := linuxsched.Machine{Kernel: linuxsched.Linux6_12(), CPUs: 1, Stations: []linuxsched.Station{{Servers: servers, Discipline: d}}}
			m.Kernel.Costs = linuxsched.Costs{}
			sum := 0.0
			for _, u := range usage(t, m, pods, 400) {
				sum += u.Stretch() / n
			}
			near(t, "stretch", sum, repairman(n, servers, loading), 0.01)
		}
	}
}
