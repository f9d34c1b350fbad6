package plan

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"loadline.dev/loadline/pkg/evaluate/observed"
)

// Of whatever clusters: a trial of the first step of a plan says what the step says, and what a trial of any change wins is the difference of the
// excess of the pods that it names, as far as these are all.
func TestATrialOfAStepIsTheStep(t *testing.T) {
	t.Parallel()
	steps := 0
	for seed := range 40 / thinned {
		rng := rand.New(rand.NewPCG(uint64(seed), 46))
		nodes, workloads := drawCluster(rng)
		in := observedAs(t, nodes, workloads)
		p := planOf(t, in, Options{Max: 1})
		if len(p.Steps) == 0 {
			continue
		}
		steps++
		step := &p.Steps[0]
		c, filter := looked(t, in, observed.DefaultAbove)
		trial, err := Try(c, step.Change, &Options{Feasibility: filter})
		if err != nil || trial.Refused != "" || trial.Unknown != "" {
			t.Fatalf("cluster %d: %v %+v", seed, err, trial)
		}
		if diff := cmp.Diff(step.Pods, trial.Pods); diff != "" || math.Abs(trial.Win-step.Win.Value) > 1e-6 {
			t.Errorf("cluster %d: %s of %s wins %v, the trial %v: %s", seed, step.Action, step.Pod, step.Win.Value, trial.Win, diff)
		}
	}
	if steps < 5/thinned {
		t.Errorf("%d plans had a step", steps)
	}
}

// What helps nothing is answered, too: less weight for a victim makes it slower.
func TestATrialOfWhatDoesHarm(t *testing.T) {
	t.Parallel()
	workloads := []workload{
		{name: "victim", node: "n", request: 500, loading: 0.6, threads: 1},
		{name: "culprit", node: "n", request: 500, loading: 1, threads: 1},
		{name: "other", node: "n", request: 500, loading: 0.9, threads: 1},
	}
	in := observedAs(t, []corev1.Node{worker("n", 1)}, workloads)
	c := observed.Observe(in, observed.DefaultAbove)
	change := Change{Action: LowerRequest, Pod: "shop/victim", Node: "n", Container: "main", Request: resource.NewMilliQuantity(50, resource.DecimalSI)}
	trial, err := Try(c, change, &Options{})
	if err != nil {
		t.Fatal(err)
	}
	if trial.Then <= trial.Now || trial.Win >= 0 || trial.Refused != "" {
		t.Errorf("%+v", trial)
	}
	change.Request = resource.NewMilliQuantity(5000, resource.DecimalSI)
	if trial, err = Try(c, change, &Options{}); err != nil || !strings.Contains(trial.Refused, "node n has not as much CPU left") {
		t.Errorf("too much: %v %+v", err, trial)
	}
	for want, spoil := range map[string]func(*Change){
		"node m was not observed":                     func(c *Change) { c.Node = "m" },
		"pod shop/nosuch was not observed on node n":  func(c *Change) { c.Pod = "shop/nosuch" },
		"node m was not observed, or is the one that": func(c *Change) { c.Action, c.To = MovePod, "m" },
		"node n was not observed, or is the one that": func(c *Change) { c.Action, c.To = MovePod, "n" },
	} {
		spoilt := change
		spoil(&spoilt)
		if _, err := Try(c, spoilt, &Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
