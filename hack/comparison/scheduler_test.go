package comparison

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"loadline.dev/loadline/hack/local"
	"loadline.dev/loadline/hack/scenario"
)

func TestSchedulersAreFoundByName(t *testing.T) {
	t.Parallel()
	root, err := local.Root(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "own.yaml")
	if err := os.WriteFile(file, []byte("profiles:\n- schedulerName: mine\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]Scheduler{
		"loadline":       {Name: "loadline", SchedulerName: "loadline"},
		"kube-scheduler": {Name: "kube-scheduler", SchedulerName: "default-scheduler"},
		"most-allocated": {Name: "most-allocated", SchedulerName: "most-allocated"},
		"trimaran":       {Name: "trimaran", SchedulerName: "trimaran"},
		file:             {Name: "own", SchedulerName: "mine"},
	} {
		got, err := SchedulerNamed(root, name)
		if err != nil || got.Name != want.Name || got.SchedulerName != want.SchedulerName || !strings.Contains(got.Profiles, "profiles:") {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func TestAWrongSchedulerIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for content, want := range map[string]string{
		"profiles: []\n":     "profiles[0].schedulerName: is missing",
		"profiles:\n- {}\n":  "profiles[0].schedulerName: is missing",
		"profiles: [\n":      "yaml",
		"profiles: 5\n":      "Profiles",
		"something: else\n ": "profiles[0].schedulerName: is missing",
	} {
		file := filepath.Join(dir, "own.yaml")
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := SchedulerNamed("", file); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", content, err, want)
		}
	}
	for _, name := range []string{"best", "best.yaml", ""} {
		if _, err := SchedulerNamed("", name); err == nil || !strings.Contains(err.Error(), "is neither") {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// One core, two pods that always run on it: each does half of what it would alone, and together they keep it busy.
func TestUtilizationsAreThoseOfPodsThatAreSlowedDown(t *testing.T) {
	t.Parallel()
	a := busy("a", 100)
	percent, err := NewJudge(cluster(2, a, a)).utilizations(Placement{0, 0})
	if err != nil {
		t.Fatal(err)
	}
	if percent["node-0"] < 99 || percent["node-0"] > 100 || percent["node-1"] != 0 {
		t.Errorf("utilizations are %v", percent)
	}
}

// Real schedulers on a real control plane place all pods of a small cluster where they fit, and leave none behind.
func TestRealSchedulersPlaceWhatComes(t *testing.T) {
	t.Parallel()
	c, root := start(t)
	s, err := scenario.New(scenario.Options{Seed: 1, Nodes: 5, Requested: 0.5, Steps: 2, ProfileError: 0.2})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Prepare(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	judge := NewJudge(s)
	for _, name := range []string{"kube-scheduler", "most-allocated", Loadline} {
		scheduler, err := SchedulerNamed(root, name)
		if err != nil {
			t.Fatal(err)
		}
		o, err := c.Run(t.Context(), s, scheduler, judge)
		if err != nil {
			t.Fatal(err)
		}
		free := make([]int64, len(s.Nodes))
		for n := range s.Nodes {
			free[n] = int64(s.Nodes[n].Size.Servers[scenario.CPU]) * 1000
		}
		placed := 0
		for _, i := range s.Present(s.Steps) {
			if n := o.Last[i]; n != Nowhere {
				free[n] -= s.Pods[i].Application.MilliCPU
				placed++
			}
		}
		for n, left := range free {
			if left < 0 {
				t.Errorf("%s: %dm too much is requested of node %s", name, -left, s.Nodes[n].Name)
			}
		}
		if placed < len(s.Present(s.Steps))*9/10 || o.Worst < 1 {
			t.Errorf("%s: %d of %d pods are placed, with the dilations %v", name, placed, len(s.Present(s.Steps)), o.Dilations)
		}
	}
}
