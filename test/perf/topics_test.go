package perf

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"loadline.dev/loadline/pkg/validate"
)

func TestTopicsAreFoundByTheirNames(t *testing.T) {
	t.Parallel()
	found, err := FindTopics("Unschedulable,SchedulingBasic")
	if err != nil || len(found) != 2 || found[0].Name != "Unschedulable" || found[1].Name != "SchedulingBasic" {
		t.Errorf("got %v, %v", found, err)
	}
	if all, err := FindTopics(""); err != nil || len(all) != len(Topics()) {
		t.Errorf("by no name %d topics, %v", len(all), err)
	}
	if _, err := FindTopics("SchedulingBasic,basic"); err == nil || !strings.Contains(err.Error(), `"basic" is not one of SchedulingBasic, `) {
		t.Errorf("got %v", err)
	}
}

// The proportions are those of upstream's largest workloads, at 5,000 nodes; OnePodPerNode has room for all its pods, and HostileTenant is
// SchedulingBasic beside 1,250 pods.
func TestTopicsHaveTheSizesOfUpstream(t *testing.T) {
	t.Parallel()
	want := map[string]Sizes{
		"SchedulingBasic": {5000, 0, 1000, 10000}, "SchedulingWithMixedChurn": {5000, 0, 0, 10000}, "Unschedulable": {5000, 0, 100, 10000},
		"SchedulingPodAffinity": {5000, 0, 5000, 5000}, "TopologySpreading": {5000, 0, 5000, 5000}, "OnePodPerNode": {5000, 0, 0, 4000},
		"HostileTenant": {5000, 1250, 1000, 10000},
	}
	for _, topic := range Topics() {
		if got := topic.Sizes(5000, 10000); got != want[topic.Name] {
			t.Errorf("%s: %v, want %v", topic.Name, got, want[topic.Name])
		}
	}
}

func TestATopicOfOnePodPerNodeHasANodeForEach(t *testing.T) {
	t.Parallel()
	topics, err := FindTopics("OnePodPerNode")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := topics[0].Sizes(500, 3000), (Sizes{Nodes: 1500, Pods: 1200}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestEveryPodOfATopicFollowsAProfile(t *testing.T) {
	t.Parallel()
	for _, topic := range Topics() {
		files := []string{topic.First, topic.Measured}
		if topic.Churn != nil {
			files = append(files, topic.Churn.Files...)
		}
		slices.Sort(files)
		for _, name := range slices.Compact(files) {
			text, err := os.ReadFile(filepath.Join("testdata", filepath.Clean(name)))
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(text), "kind: Pod\n") && !strings.Contains(string(text), "workload: kind-") {
				t.Errorf("%s, %s: the pods have no label that a profile selects", topic.Name, name)
			}
		}
	}
}

// Upstream goes on without a word where it cannot create what comes and goes.
func TestTheChangeOfAHostileTenantIsAdmitted(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("testdata", "hostile-change.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var object map[string]any
	if err := yaml.Unmarshal(text, &object); err != nil {
		t.Fatal(err)
	}
	rules, err := validate.Load()
	if err != nil {
		t.Fatal(err)
	}
	if _, refused, err := rules.Admit(t.Context(), object); err != nil || len(refused) > 0 {
		t.Errorf("%v, refused: %v", err, refused)
	}
}
