package observability

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/yaml"
)

// group is a group of rules as Prometheus reads it, as far as the tests look.
type group struct {
	Name  string
	Rules []rule
}

type rule struct {
	Record, Alert, Expr string
	Labels, Annotations map[string]string
}

// dashboard is a dashboard as Grafana reads it, as far as the tests look.
type dashboard struct {
	file                    string
	UID, Title, Description string
	Tags                    []string
	SchemaVersion           int
	Templating              struct {
		List []struct{ Name, Type, Query string }
	}
	Panels []panel
}

type panel struct {
	ID                       int
	Type, Title, Description string
	GridPos                  struct{ X, Y, W, H int }
	Datasource               source
	Targets                  []target
	FieldConfig              struct{ Defaults struct{ Unit string } }
}

type target struct {
	RefID, Expr, LegendFormat string
	Instant, Range            bool
	Datasource                source
}

type source struct{ Type, UID string }

// row is the type of panels that are headings.
const row = "row"

// root returns the root folder of the repository.
func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("..", ".."))
	must(t, err)
	return dir
}

func rulesFile(t *testing.T) string {
	t.Helper()
	return filepath.Join(root(t), "charts", "loadline", "rules", "loadline.yaml")
}

// groups reads the rules that the chart ships.
func groups(t *testing.T) []group {
	t.Helper()
	content, err := os.ReadFile(rulesFile(t))
	must(t, err)
	var file struct{ Groups []group }
	must(t, yaml.Unmarshal(content, &file))
	return file.Groups
}

// alerts are the shipped rules that are alerts.
func alerts(t *testing.T) []rule {
	t.Helper()
	var list []rule
	for _, g := range groups(t) {
		for _, r := range g.Rules {
			if r.Alert != "" {
				list = append(list, r)
			}
		}
	}
	if len(list) == 0 {
		t.Fatal("there are no alerts")
	}
	return list
}

// dashboards reads the dashboards that the chart ships.
func dashboards(t *testing.T) []dashboard {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root(t), "charts", "loadline", "dashboards", "*.json"))
	must(t, err)
	var list []dashboard
	for _, name := range files {
		content, err := os.ReadFile(filepath.Clean(name))
		must(t, err)
		d := dashboard{file: filepath.Base(name)}
		if err := json.Unmarshal(content, &d); err != nil {
			t.Fatalf("%s: %v", d.file, err)
		}
		list = append(list, d)
	}
	if len(list) == 0 {
		t.Fatal("there are no dashboards")
	}
	return list
}

// tool returns the path of a program of Prometheus: the one that the environment
// names (LOADLINE_PROMTOOL), the one that make builds, or the one on PATH.
func tool(t *testing.T, name string) string {
	t.Helper()
	variable := "LOADLINE_" + strings.ToUpper(name)
	if path := os.Getenv(variable); path != "" {
		return path
	}
	built := filepath.Join(root(t), "bin", "tools", name)
	if _, err := os.Stat(built); err == nil {
		return built
	}
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatalf("there is no %s: run make %s, install one, or name one in %s: %v", name, name, variable, err)
	}
	return path
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
