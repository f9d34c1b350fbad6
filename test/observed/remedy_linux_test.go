package observed

import (
	"flag"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"loadline.dev/loadline/pkg/cgroup"
	"loadline.dev/loadline/pkg/evaluate/findings"
)

var remedies = flag.Int("remedies", 0, "findings whose remedy is carried out; needs root")

// A remedy is carried out: the same pods run again, of which the victim has the request or the limit that it was told.
func TestRemediesWinWhatTheySay(t *testing.T) {
	if *remedies == 0 {
		t.Skip("run it as root on a machine with nothing to do: go test ./test/observed -run Remedies -v -args -remedies 10")
	}
	rng := rand.New(rand.NewPCG(*mixSeed, 4))
	var off []float64
	for run := 0; len(off) < *remedies && run < 3**remedies; run++ {
		victim := working(rng, "victim", 0.3+0.4*rng.Float64(), 51)
		if rng.IntN(3) == 0 {
			victim.limit = 0.1 + 0.1*rng.Float64()
		}
		members := []member{victim, working(rng, "culprit", 0.5+0.5*rng.Float64(), 256), light(rng, 0), light(rng, 1)}
		t.Run(strconv.Itoa(run), func(t *testing.T) {
			f, _ := first(judged(t, members))
			if f == nil || f.Remedy.Action == findings.Leave {
				t.Log("no remedy to carry out")
				return
			}
			if f.Remedy.Request != nil {
				members[0].shares = int(cgroup.Shares(f.Remedy.Request.MilliValue()))
			}
			if f.Remedy.Limit != nil {
				members[0].limit = f.Remedy.Limit.AsApproximateFloat64()
			}
			then := dilationOf(judged(t, members), "shop/victim")
			told, won := f.Dilation-f.Remedy.Dilation, f.Dilation-then
			off = append(off, math.Abs(won/told-1))
			t.Logf("%.2f, %s: told %.2f, is %.2f; won %.2f of %.2f", f.Dilation, f.Remedy.Action, f.Remedy.Dilation, then, won, told)
		})
	}
	if len(off) > 0 {
		t.Logf("the win is off by %.1f %% in the median of %d, %.1f %% at worst", 100*median(off), len(off), 100*slices.Max(off))
	}
	if err := checkWins(off); err != nil {
		t.Error(err)
	}
}

// dilationOf returns the dilation of a pod that was observed.
func dilationOf(a *findings.Answer, pod string) float64 {
	for i := range a.Pods {
		if a.Pods[i].Pod == pod {
			return a.Pods[i].Dilation
		}
	}
	return math.NaN()
}
