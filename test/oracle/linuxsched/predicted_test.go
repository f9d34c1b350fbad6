package linuxsched_test

import (
	"flag"
	"fmt"
	"path/filepath"
	"testing"

	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/queueing"
)

var every = flag.Int("every", 25, "compare every Nth of the judged mixes with predictions: 1 for all, which takes minutes")

// predicted returns the dilations of the pods of a mix by the model of weights and limits.
func predicted(t *testing.T, mix []row) []float64 {
	t.Helper()
	var vectors []loading.Vector
	var sharing contention.Sharing
	for _, r := range mix {
		burst, limit := r.number(t, "burst_ms")/1000, r.number(t, "limit")/1000
		d := loading.Demand{Loading: r.number(t, "loading"), Pressure: r.number(t, "loading"), Threads: int(r.number(t, "threads")), Burst: burst}
		share := loading.Share{Weight: r.number(t, "weight"), Burst: burst}
		if limit > 0 {
			share = share.Under(limit, d)
		}
		vectors, sharing.Shares = append(vectors, loading.Vector{d}), append(sharing.Shares, share)
	}
	prediction, err := contention.PredictSharing(vectors, []int{int(mix[0].number(t, "processors"))}, sharing, queueing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return prediction.Dilations
}

// How far the model is from the simulation on the mixes of test/testdata/judged. The bounds are what it reaches on all of them. Those of
// package wakeup were fitted to mixes of odd numbers. It is far off for light busy threads on processors that are overloaded: threads
// that sleep move away from those, and leave them a processor each.
func TestPredictionsAreNearTheJudge(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../testdata/judged/*.csv")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d tables, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			all, upTo90, free, limited, noise := &tally{}, &tally{}, &tally{}, &tally{}, &tally{}
			for i, mix := range mixes(t, file) {
				if i%*every != 0 {
					continue
				}
				load := 0.0
				for _, r := range mix {
					load += r.number(t, "loading") * r.number(t, "threads") / r.number(t, "processors")
				}
				for i, d := range predicted(t, mix) {
					r := mix[i]
					judged := r.number(t, "dilation")
					where := fmt.Sprintf("%s pod %s at a load of %.0f %%: %.3f, judged %.3f", r["mix"], r["pod"], 100*load, d, judged)
					off := d/judged - 1
					all.add(off, where)
					noise.add(r.number(t, "deviation")/judged, where)
					if load <= 0.9 {
						upTo90.add(off, where)
					}
					if r["limit"] == "" {
						free.add(off, where)
					} else {
						limited.add(off, where)
					}
				}
			}
			t.Logf("standard deviation of the judge: %.2f %% on average", 100*noise.mean())
			all.within(t, "all", 0.05, 4, all.count)
			if upTo90.count > 0 {
				upTo90.within(t, "load up to 90 %", 0.02, 0.28, all.count)
			}
			t.Logf("without a limit: %v", free)
			t.Logf("with a limit: %v", limited)
		})
	}
}
