package observability

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/yaml"
)

func TestPromtoolAcceptsTheRules(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), tool(t, "promtool"), "check", "rules", "--lint=all", "--lint-fatal", rulesFile(t)).CombinedOutput()
	if err != nil {
		t.Errorf("promtool check rules: %v\n%s", err, out)
	}
}

// What is to fire when, and what it says then, is in the YAML files here.
func TestAlertsFireWhenTheyShouldAndOnlyThen(t *testing.T) {
	t.Parallel()
	for _, file := range unitTests(t) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			t.Parallel()
			out, err := exec.CommandContext(t.Context(), tool(t, "promtool"), "test", "rules", file).CombinedOutput()
			if err != nil {
				t.Errorf("promtool test rules: %v\n%s", err, out)
			}
		})
	}
}

// unitTests are the files of promtool's tests.
func unitTests(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root(t), "test", "observability", "*.yaml"))
	must(t, err)
	if len(files) == 0 {
		t.Fatal("there are no tests for promtool")
	}
	return files
}

func TestEveryAlertIsTestedToFireAndNotToFire(t *testing.T) {
	t.Parallel()
	fires, silent := map[string]bool{}, map[string]bool{}
	for _, file := range unitTests(t) {
		content, err := os.ReadFile(filepath.Clean(file))
		must(t, err)
		var tests struct {
			Tests []struct {
				Cases []struct {
					Alertname string
					Expected  []any `json:"exp_alerts"`
				} `json:"alert_rule_test"`
			}
		}
		must(t, yaml.Unmarshal(content, &tests))
		for _, test := range tests.Tests {
			for _, c := range test.Cases {
				if len(c.Expected) > 0 {
					fires[c.Alertname] = true
				} else {
					silent[c.Alertname] = true
				}
			}
		}
	}
	for _, a := range alerts(t) {
		if !fires[a.Alert] || !silent[a.Alert] {
			t.Errorf("%s: tested to fire: %v; not to fire: %v", a.Alert, fires[a.Alert], silent[a.Alert])
		}
		delete(fires, a.Alert)
	}
	for name := range fires {
		t.Errorf("%s is tested, but there is no such alert", name)
	}
}

// runbooks is where docs/reference/alerts.md is published.
const runbooks = "https://loadline.dev/docs/reference/alerts#"

func TestEveryAlertSaysHowBadItIsWhatItMeansAndWhereToReadOn(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, a := range alerts(t) {
		if seen[a.Alert] {
			t.Errorf("%s: there are two of that name", a.Alert)
		}
		seen[a.Alert] = true
		if !slices.Contains([]string{"critical", "warning", "info"}, a.Labels["severity"]) {
			t.Errorf("%s: severity %q is none of critical, warning, info", a.Alert, a.Labels["severity"])
		}
		for _, name := range []string{"summary", "description"} {
			if text := a.Annotations[name]; !strings.HasSuffix(text, ".") {
				t.Errorf("%s: the %s %q is not a sentence", a.Alert, name, text)
			}
		}
		if got, want := a.Annotations["runbook_url"], runbooks+strings.ToLower(a.Alert); got != want {
			t.Errorf("%s: runbook_url %q, want %q", a.Alert, got, want)
		}
	}
}

func TestEveryAlertHasItsRunbook(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile(filepath.Join(root(t), "docs", "reference", "alerts.md"))
	must(t, err)
	sections := map[string]string{}
	for _, section := range strings.Split(string(content), "\n### ")[1:] {
		name, text, _ := strings.Cut(section, "\n")
		sections[name] = text
	}
	for _, a := range alerts(t) {
		text, ok := sections[a.Alert]
		if !ok {
			t.Errorf("docs/reference/alerts.md has no section %s", a.Alert)
			continue
		}
		delete(sections, a.Alert)
		for _, part := range []string{`\*\*Meaning\.\*\*`, `\*\*Look at\*\*`, `\*\*Do\*\*`} {
			if !regexp.MustCompile(part).MatchString(text) {
				t.Errorf("docs/reference/alerts.md, %s: it has no %s", a.Alert, strings.ReplaceAll(part, `\`, ""))
			}
		}
	}
	for name := range sections {
		t.Errorf("docs/reference/alerts.md has a section %s, but there is no such alert", name)
	}
}
