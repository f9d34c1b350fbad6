package mix_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/mix"
	"loadline.dev/loadline/pkg/model/queueing"
	"loadline.dev/loadline/test/modeltest"
)

// Jobs have as much work left as others, much more, or none; some start when others
// are about to complete.
func TestACompletionIsWhatAReplayMakesOfIt(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t)
		mixes, err := mix.NewMixes(d.class, queueing.Options{})
		if err != nil {
			t.Fatal(err)
		}
		node := mix.NewRunning(mixes)
		work := rapid.OneOf(rapid.SampledFrom([]float64{0, 1, 1, 2, 4, 1000}), rapid.Float64Range(0, 9))
		for j, job := range d.jobs {
			node.Start(job, work.Draw(t, "work"), j)
		}
		for range 3 {
			for _, part := range sortedFractions(t) {
				after := 0.0
				if node.Mix().Jobs() > 0 {
					after = part * node.Next()
				}
				job, own := rapid.SampledFrom(d.types).Draw(t, "type"), work.Draw(t, "own time")
				got, bound := node.Completion(after, job, own)
				want, all := completionByReplay(node, after, job, own)
				if !modeltest.Close(got, want) {
					t.Fatalf("a job of type %s and %v s that starts after %v s takes %v s, want %v", job.Name, own, after, got, want)
				}
				if bound < got || bound > all && !modeltest.Close(bound, all) {
					t.Fatalf("all jobs take at least %v s, want between %v and %v", bound, got, all)
				}
			}
			if node.Mix().Jobs() > 0 {
				node.Advance(node.Next(), nil)
			}
		}
	})
}

// sortedFractions draws when jobs start in an epoch, as fractions of it.
func sortedFractions(t *rapid.T) []float64 {
	fraction := rapid.OneOf(rapid.SampledFrom([]float64{0, 0.5, 1}), rapid.Float64Range(0, 1))
	fractions := rapid.SliceOfN(fraction, 1, 10).Draw(t, "starts")
	if !rapid.Bool().Draw(t, "in any order") {
		slices.Sort(fractions)
	}
	return fractions
}

// completionByReplay replays a copy of a node until all jobs are done.
func completionByReplay(node *mix.Running, after float64, t *mix.JobType, own float64) (job, all float64) {
	const mine = -1
	var running mix.Running
	running.CopyFrom(node)
	if running.Mix().Jobs() > 0 {
		running.Advance(after, nil)
	}
	running.Start(t, own, mine)
	for running.Mix().Jobs() > 0 {
		next := running.Next()
		all += next
		if slices.Contains(running.Advance(next, nil), mine) {
			job = all
		}
	}
	return job, all
}

// On one cpu and one disk, by hand.
func TestCompletionsBesideOthers(t *testing.T) {
	node := mix.NewRunning(newMixes(t, mix.NodeClass{Servers: []int{1, 1}}, queueing.Options{}))
	node.Start(cpuJob, 2, 1)
	node.Start(cpuJob, 3, 2)
	node.Start(diskJob, 4, 3)
	for _, test := range []struct {
		after, own, job, all float64
		why                  string
	}{
		{0, 0, 0, 4, "the job on the disk takes 4 s"},
		{0, 1, 3, 4, "each on the cpu has done 1 s, the job on the disk 3 of 4"},
		{0, 9, 14, 14, "the last is done when all are: 2 + 3 + 9"},
		{1, 9, 13, 13, "of which 1 is over"},
		{1, 0.5, 1.5, 3, "the job on the disk has done 2.5 of 4"},
		{1, 1, 3, 4.5, "the job on the disk is done at the same time, another has 1.5 left"},
	} {
		if job, all := node.Completion(test.after, cpuJob, test.own); !modeltest.Close(job, test.job) || !modeltest.Close(all, test.all) {
			t.Errorf("%v s of work after %v s take %v s, all jobs at least %v; want %v and %v: %s", test.own, test.after, job, all, test.job, test.all, test.why)
		}
	}
}

// What is remembered is bounded, and forgotten when it does not hold any more.
func TestCompletionsOfManyTypes(t *testing.T) {
	mixes := newMixes(t, mix.NodeClass{Servers: []int{1}}, queueing.Options{})
	node := mix.NewRunning(mixes)
	types := make([]*mix.JobType, 40)
	for k := range types {
		types[k] = &mix.JobType{Name: fmt.Sprint(k), Vector: loading.Loadings(1)}
	}
	for running := range 3 {
		for range 2 {
			for _, job := range types {
				if got, _ := node.Completion(0, job, 1); !modeltest.Close(got, float64(1+running)) {
					t.Fatalf("beside %d jobs one takes %v times its neutral time", running, got)
				}
			}
		}
		node.Start(types[0], math.MaxInt32, running)
		mixes.Forget()
		node.Recall(mixes)
	}
}
