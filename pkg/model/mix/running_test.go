package mix_test

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/mix"
	"loadline.dev/loadline/pkg/model/queueing"
	"loadline.dev/loadline/test/modeltest"
)

var (
	cpuJob  = &mix.JobType{Name: "cpu", Vector: loading.Loadings(1, 0)}
	diskJob = &mix.JobType{Name: "disk", Vector: loading.Loadings(0, 1)}
)

func TestRunningJobsProgressByTheirDilations(t *testing.T) {
	node := mix.NewRunning(newMixes(t, mix.NodeClass{Servers: []int{1, 1}}, queueing.Options{}))
	if !math.IsInf(node.Next(), 1) {
		t.Errorf("something completes in %v on an empty node", node.Next())
	}
	node.Start(cpuJob, 4, 1)
	node.Start(diskJob, 9, 2)
	node.Start(cpuJob, 6, 3)
	for _, step := range []struct {
		advance, next, left float64
		done                []int
	}{
		{0, 8, 19, nil},      // the two at the cpu take twice as long as alone
		{2, 6, 15, nil},      // 3 + 7 + 5
		{6, 1, 3, []int{1}},  // 0 + 1 + 2: from now on no job waits
		{1, 1, 1, []int{2}},  // 0 + 1
		{0.5, 0.5, 0.5, nil}, // alone
		{0.5, math.Inf(1), 0, []int{3}},
	} {
		if got := node.Left(step.advance); !modeltest.Close(got, step.left) {
			t.Errorf("%v s from now %v s are left, want %v", step.advance, got, step.left)
		}
		if diff := cmp.Diff(step.done, node.Advance(step.advance, nil)); diff != "" {
			t.Errorf("after %v s (-want +got)\n%s", step.advance, diff)
		}
		if got := node.Next(); got != step.next && !modeltest.Close(got, step.next) {
			t.Errorf("after %v s the next completes in %v, want %v", step.advance, got, step.next)
		}
	}
}

func TestJobsWithEquallyMuchLeftCompleteTogether(t *testing.T) {
	node := mix.NewRunning(newMixes(t, mix.NodeClass{Servers: []int{2, 1}}, queueing.Options{}))
	for id := range 5 {
		node.Start(cpuJob, 0.1, id)
	}
	done := node.Advance(node.Next(), []int{9})
	if diff := cmp.Diff([]int{9, 0, 1, 2, 3, 4}, done); diff != "" || node.Mix().Jobs() != 0 {
		t.Errorf("%d jobs are left (-want +got)\n%s", node.Mix().Jobs(), diff)
	}
}

func TestAJobOfNoWorkCompletesAtOnce(t *testing.T) {
	node := mix.NewRunning(newMixes(t, mix.NodeClass{Servers: []int{1, 1}}, queueing.Options{}))
	node.Start(cpuJob, 5, 1)
	node.Start(cpuJob, 0, 2)
	if got := node.Next(); got != 0 {
		t.Errorf("it takes %v", got)
	}
	if diff := cmp.Diff([]int{2}, node.Advance(0, nil)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if got := node.Next(); got != 5 {
		t.Errorf("the other one takes %v, want 5", got)
	}
}

func TestASlowNodeStretchesNeutralTimes(t *testing.T) {
	node := mix.NewRunning(newMixes(t, mix.NodeClass{Servers: []int{1, 1}, Speeds: []float64{0.25}}, queueing.Options{}))
	node.Start(cpuJob, 3, 1)
	node.Start(diskJob, 5, 2)
	if left, next := node.Left(0), node.Next(); !modeltest.Close(left, 17) || !modeltest.Close(next, 5) {
		t.Errorf("%v s left, the first completes after %v, want 12 + 5 and 5", left, next)
	}
}

func TestACopyGoesItsOwnWay(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		node, _ := drawRunning(t)
		var copied mix.Running
		copied.CopyFrom(node)
		left, next, mix := node.Left(0), node.Next(), node.Mix()
		if copied.Left(0) != left || copied.Next() != next || copied.Mix() != mix {
			t.Fatal("the copy differs")
		}
		copied.Advance(next, nil)
		copied.Start(mix.Parts()[0].Type, 1, 99)
		if node.Left(0) != left || node.Next() != next || node.Mix() != mix {
			t.Fatal("the original changed with its copy")
		}
	})
}

// The jobs go on where they were after the mixes were forgotten: all complete, in
// the same order, at the same times, as if nothing had happened.
func TestRunningJobsAreRecalled(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		node, mixes := drawRunning(t)
		times, order := completeAll(node)
		mixes.Forget()
		types := node.Mix().Parts()
		for _, part := range rapid.Permutation(types).Draw(t, "met first") {
			mixes.Empty().With(part.Type)
		}
		node.Recall(mixes)
		gotTimes, gotOrder := completeAll(node)
		if diff := cmp.Diff(times, gotTimes); diff != "" {
			t.Fatalf("the jobs complete at other times (-before +after)\n%s", diff)
		}
		for i := range order {
			slices.Sort(order[i])
			slices.Sort(gotOrder[i])
		}
		if diff := cmp.Diff(order, gotOrder); diff != "" {
			t.Fatalf("the jobs complete in another order (-before +after)\n%s", diff)
		}
	})
}

// drawRunning draws a node on which some jobs, at least one, are on their way.
func drawRunning(t *rapid.T) (*mix.Running, *mix.Mixes) {
	d := draw(t)
	mixes, err := mix.NewMixes(d.class, queueing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	node := mix.NewRunning(mixes)
	d.jobs = append(d.jobs, d.types[0])
	for j, job := range d.jobs {
		node.Start(job, rapid.Float64Range(1, 9).Draw(t, "neutral"), j)
	}
	node.Advance(node.Next()*rapid.Float64Range(0, 0.9).Draw(t, "so far"), nil)
	return node, mixes
}

// completeAll returns how long it takes until each next completion, and whose it
// is, and leaves the node alone.
func completeAll(node *mix.Running) (times []float64, order [][]int) {
	var running mix.Running
	running.CopyFrom(node)
	for running.Mix().Jobs() > 0 {
		times = append(times, running.Next())
		order = append(order, running.Advance(running.Next(), nil))
	}
	return times, order
}

func TestAMixWithoutAJobOfATypeHasNoDilationForIt(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("the dilation of a job that is not there was answered")
		}
	}()
	newMixes(t, mix.NodeClass{Servers: []int{1, 1}}, queueing.Options{}).Empty().With(cpuJob).Dilation(diskJob)
}
