package linuxsched_test

import (
	"flag"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"loadline.dev/loadline/test/oracle/linuxsched"
)

var blameMixes = flag.Int("blame-mixes", 60, "drawn mixes in which what pods use is compared with what runs while others wait")

// slowed is the dilation from which on a pod is of interest, that of a finding.
const slowed = 1.2

// drawn draws pods for some processors, of which they ask between 30 and 120 %.
func drawn(r *rand.Rand, cpus int) (pods []linuxsched.Pod) {
	asked, enough := 0.0, (0.3+0.9*r.Float64())*float64(cpus)
	for most := 2 + r.IntN(5)*max(1, cpus/2); len(pods) < most && asked < enough; {
		weight, threads, loading := []int{5, 10, 25, 50, 100}[r.IntN(5)], 1+r.IntN(3)*r.IntN(2), 0.05*math.Pow(20, r.Float64())
		burst := time.Duration(0.5 * math.Pow(40, r.Float64()) * float64(time.Millisecond))
		pods = append(pods, pod(weight, threads, burst, loading, r.Uint64()>>20))
		asked += loading * float64(threads)
	}
	return pods
}

// misplaced returns how much of the blame for the waiting of each pod that is slowed down falls on others than those that ran meanwhile,
// if it is shared by what they used.
func misplaced(r linuxsched.Result) (all []float64) {
	for i, u := range r.Pods {
		var used, blamed time.Duration
		for k := range r.Pods {
			if k != i {
				used += r.Pods[k].Run
				blamed += r.Blame[i][k]
			}
		}
		if u.Stretch() < slowed || blamed == 0 {
			continue
		}
		off := 0.0
		for k := range r.Pods {
			if k != i {
				off += max(0, r.Pods[k].Run.Seconds()/used.Seconds()-r.Blame[i][k].Seconds()/blamed.Seconds())
			}
		}
		all = append(all, off)
	}
	return all
}

// On one processor what pods use says nearly who is to blame; on several it depends on which of them share one.
func TestUsageSaysWhoIsToBlameOnOneProcessor(t *testing.T) {
	t.Parallel()
	const little = 0.06 // of the blame
	for _, test := range []struct {
		cpus  int
		right bool // little is misplaced
	}{{1, true}, {4, false}, {8, false}} {
		t.Run(strconv.Itoa(test.cpus), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(1, uint64(test.cpus)))
			var all []float64
			for mix := range *blameMixes {
				machine := linuxsched.Machine{Kernel: linuxsched.Linux6_18(), CPUs: test.cpus, Seed: uint64(mix)}
				result, err := machine.Run(drawn(r, test.cpus), time.Second, 10*time.Second)
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, misplaced(result)...)
			}
			mean := 0.0
			for _, off := range all {
				mean += off / float64(len(all))
			}
			t.Logf("%d pods: %.3f of the blame is misplaced on average, %.3f at worst", len(all), mean, slices.Max(all))
			if (mean <= little) != test.right {
				t.Errorf("by what pods use %.3f of the blame is misplaced; that it is little, up to %v, is to be %v", mean, little, test.right)
			}
		})
	}
}
