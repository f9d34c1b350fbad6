package kindcluster

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

func TestPodsOfEachWorkerHaveAProcessorOfTheirOwn(t *testing.T) {
	t.Parallel()
	for processors, want := range map[int][]string{ // what each node does not use: the control plane, then the workers
		2:  {"0", "1", "0"},
		3:  {"0-1", "1-2", "0,2"},
		12: {"0-1", "1-11", "0,2-11"},
	} {
		text, err := config(processors, "/module")
		if err != nil {
			t.Fatal(err)
		}
		var parsed struct {
			Nodes []struct {
				Role                 string
				KubeadmConfigPatches []string
			}
		}
		if err := yaml.Unmarshal(text, &parsed); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, node := range parsed.Nodes {
			for _, patch := range node.KubeadmConfigPatches {
				var of struct {
					NodeRegistration struct{ KubeletExtraArgs map[string]string }
				}
				if err := yaml.Unmarshal([]byte(patch), &of); err != nil {
					t.Fatal(err)
				}
				if cpus, says := of.NodeRegistration.KubeletExtraArgs["reserved-cpus"]; says {
					got = append(got, cpus)
				}
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("with %d processors (-want +got):\n%s", processors, diff)
		}
	}
}

func TestOneProcessorIsTooFew(t *testing.T) {
	t.Parallel()
	if _, err := config(1, "/module"); err == nil || !strings.Contains(err.Error(), "2 workers with one each") {
		t.Errorf("got %v", err)
	}
}

func TestFilesThatTheControlPlaneReadsAreThere(t *testing.T) {
	t.Parallel()
	text, err := config(2, "..")
	if err != nil {
		t.Fatal(err)
	}
	var parsed struct {
		Nodes []struct{ ExtraMounts []struct{ HostPath string } }
	}
	if err := yaml.Unmarshal(text, &parsed); err != nil {
		t.Fatal(err)
	}
	if len(parsed.Nodes[0].ExtraMounts) != 2 {
		t.Errorf("mounted: %+v, want the patches and the audit policy", parsed.Nodes[0].ExtraMounts)
	}
	for _, mount := range parsed.Nodes[0].ExtraMounts {
		if _, err := os.Stat(mount.HostPath); err != nil {
			t.Error(err)
		}
	}
}
