package docs

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"
)

// rightsOf returns what the first ClusterRole of a file allows: verbs by resource, as docs/security.md names resources.
func rightsOf(t *testing.T, path string) map[string][]string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	_, first, _ := strings.Cut("\n"+string(content), "\nkind: ClusterRole\n")
	first, _, _ = strings.Cut(first, "\n---\n")
	role := &rbacv1.ClusterRole{}
	if err := yaml.Unmarshal([]byte(first), role); err != nil {
		t.Fatal(err)
	}
	rights := map[string][]string{}
	for _, rule := range role.Rules {
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				if group == "events.k8s.io" { // there are events of two groups
					resource = group + "/" + resource
				}
				rights[resource] = append(rights[resource], rule.Verbs...)
			}
		}
	}
	for resource, verbs := range rights {
		slices.Sort(verbs)
		rights[resource] = slices.Compact(verbs)
	}
	return rights
}

var quoted = regexp.MustCompile("`([^`]+)`")

// explainedRights returns the rights of the table behind the comment <!-- rights: FILE --> of docs/security.md.
func explainedRights(t *testing.T, file string) map[string][]string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, "docs", "security.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(content), fmt.Sprintf("<!-- rights: %s -->\n", file))
	if !found {
		t.Fatalf("docs/security.md has no table of the rights of %s", file)
	}
	table, _, _ := strings.Cut(strings.TrimLeft(rest, "\n"), "\n\n")
	rights := map[string][]string{}
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		const resources, verbs, why = 1, 2, 3
		for _, m := range quoted.FindAllStringSubmatch(cells[resources], -1) {
			for verb := range strings.SplitSeq(cells[verbs], ",") {
				rights[m[1]] = append(rights[m[1]], strings.TrimSpace(verb))
			}
			if strings.TrimSpace(cells[why]) == "" {
				t.Errorf("docs/security.md does not say what %s is needed for", m[1])
			}
		}
	}
	for _, verbs := range rights {
		slices.Sort(verbs)
	}
	return rights
}

func TestTheRightsOfTheProgramsAreExplained(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"config/rbac/role.yaml", "config/rbac/measurer.yaml", "config/rbac/replayer.yaml", "config/remediation/remediator.yaml", "config/scheduler/rbac.yaml", "config/gauge/gauge.yaml"} {
		if diff := cmp.Diff(rightsOf(t, file), explainedRights(t, file)); diff != "" {
			t.Errorf("what %s allows (-) and docs/security.md explains (+):\n%s", file, diff)
		}
	}
}
