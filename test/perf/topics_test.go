package perf

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
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

// The proportions are those of upstream's largest workloads, at 5,000 nodes.
func TestTopicsHaveTheSizesOfUpstream(t *testing.T) {
	t.Parallel()
	want := map[string][2]int{
		"SchedulingBasic": {1000, 10000}, "SchedulingWithMixedChurn": {0, 10000}, "Unschedulable": {100, 10000},
		"SchedulingPodAffinity": {5000, 5000}, "TopologySpreading": {5000, 5000},
	}
	for _, topic := range Topics() {
		first, measured := topic.Sizes(5000, 10000)
		if got := [2]int{first, measured}; got != want[topic.Name] {
			t.Errorf("%s: %v, want %v", topic.Name, got, want[topic.Name])
		}
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
