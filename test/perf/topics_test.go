package perf

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
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
	folder, err := FindTopics("dra,SchedulingBasic")
	if err != nil || len(folder) != 3 || folder[0].Name != "SchedulingWithResourceClaimTemplate" || folder[2].Name != "SchedulingBasic" {
		t.Errorf("by a folder: got %v, %v", folder, err)
	}
	if _, err := FindTopics("SchedulingBasic,basic"); err == nil || !strings.Contains(err.Error(), `"basic" is not one of ThreeKindsOfPods, `) {
		t.Errorf("got %v", err)
	}
}

func TestTopicsOfOursHaveSizesByTheFlags(t *testing.T) {
	t.Parallel()
	want := map[string]Sizes{"ThreeKindsOfPods": {5000, 0, 1000, 10000}, "OnePodPerNode": {5000, 0, 0, 4000}, "HostileTenant": {5000, 1250, 1000, 10000}}
	for _, topic := range Topics() {
		if topic.Own == nil {
			continue
		}
		if got := topic.Own.Sizes(5000, 10000); got != want[topic.Name] {
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
	if got, want := topics[0].Own.Sizes(500, 3000), (Sizes{Nodes: 1500, Pods: 1200}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

// Each test case that upstream has is a topic, or there is a reason why not. A topic has a workload of upstream's, and can be adapted.
func TestEveryTestCaseOfUpstreamIsATopic(t *testing.T) {
	t.Parallel()
	said, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "k8s.io/kubernetes").Output()
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(strings.TrimSpace(string(said)), "test", "integration", "scheduler_perf")
	topics := map[string]*Topic{}
	for _, topic := range Topics() {
		if topic.Own == nil {
			topics[topic.Name] = &topic
		}
	}
	reasons := NotRun()
	if err := fs.WalkDir(os.DirFS(root), ".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Base(path) != "performance-config.yaml" {
			return err
		}
		config, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			return err
		}
		var cases []struct{ Name string }
		if err := yaml.Unmarshal(config, &cases); err != nil {
			return err
		}
		for _, c := range cases {
			topic := topics[c.Name]
			switch {
			case topic == nil && reasons[c.Name] == "":
				t.Errorf("%s of %s is neither a topic nor is there a reason why not", c.Name, path)
			case topic != nil && topic.Folder != filepath.ToSlash(filepath.Dir(path)):
				t.Errorf("%s is in folder %s, want %s", c.Name, filepath.Dir(path), topic.Folder)
			case topic != nil:
				if _, err := (Adaptation{Case: c.Name, Workload: topic.Workload, Folder: root}).Adapt(config); err != nil {
					t.Error(err)
				}
			}
			delete(topics, c.Name)
			delete(reasons, c.Name)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for name := range topics {
		t.Errorf("upstream has no test case %s", name)
	}
	for name := range reasons {
		t.Errorf("upstream has no test case %s, which is not run", name)
	}
}

func TestEveryPodOfATopicOfOursFollowsAProfile(t *testing.T) {
	t.Parallel()
	for _, topic := range Topics() {
		if topic.Own == nil {
			continue
		}
		for _, name := range []string{topic.Own.First, topic.Own.Measured} {
			text, err := os.ReadFile(filepath.Join("testdata", filepath.Clean(name)))
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(text), "workload: kind-") {
				t.Errorf("%s, %s: the pods have no label that a profile selects", topic.Name, name)
			}
		}
	}
}

func TestTheProfilesOfUpstreamsPodsAreAdmitted(t *testing.T) {
	t.Parallel()
	admit(t, "all-pods.yaml")
	admit(t, "all-light-pods.yaml")
}

// Upstream goes on without a word where it cannot create what comes and goes.
func TestTheChangeOfAHostileTenantIsAdmitted(t *testing.T) {
	t.Parallel()
	admit(t, "hostile-change.yaml")
}

// admit checks that the API server would admit an object of testdata.
func admit(t *testing.T, name string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", filepath.Clean(name)))
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
		t.Errorf("%s: %v, refused: %v", name, err, refused)
	}
}
