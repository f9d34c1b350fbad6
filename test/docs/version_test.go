package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"sigs.k8s.io/yaml"
)

// versioned finds the versions of Loadline in what readers type: of archives, charts and images.
var versioned = regexp.MustCompile(`(?:loadline[-_]|loadline-[a-z]+:|/loadline/charts/loadline --version )(\d+\.\d+\.\d+)`)

// A release changes the chart's version, and with it what readers are told to install.
func TestPagesInstallTheVersionOfTheChart(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile(filepath.Join(root, "charts", "loadline", "Chart.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var chart struct{ Version string }
	if err := yaml.Unmarshal(content, &chart); err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, p := range pages {
		if !written(p) {
			continue
		}
		for _, b := range p.Blocks {
			for _, m := range versioned.FindAllStringSubmatch(b.Text, -1) {
				if found++; m[1] != chart.Version {
					t.Errorf("%s: %q is of another version than the chart, %s", at(p, b.Line), m[0], chart.Version)
				}
			}
		}
	}
	if found == 0 {
		t.Error("no page says what to install")
	}
}
