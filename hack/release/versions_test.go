package release_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"
)

// A package is compiled once for all modules that have it and its dependencies in the same versions. Kubernetes' are some
// thousand, so a version that differs far below costs minutes on a new machine.
func TestModulesThatShareKubernetesHaveWhatTheyShareInOneVersion(t *testing.T) {
	t.Parallel()
	versions := map[string]map[string][]string{} // by path and version: who has it
	for _, module := range []string{".", "hack/cluster", "hack/cluster/binaries", "hack/cluster/binaries/node", "hack/experiments"} {
		for path, version := range required(t, module) {
			if versions[path] == nil {
				versions[path] = map[string][]string{}
			}
			versions[path][version] = append(versions[path][version], module)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(versions)) {
		if has := versions[path]; len(has) > 1 {
			var each []string
			for _, version := range slices.Sorted(maps.Keys(has)) {
				each = append(each, fmt.Sprintf("%s in %s", version, strings.Join(has[version], ", ")))
			}
			t.Errorf("%s is %s: make it one version with go get and go mod tidy", path, strings.Join(each, " and "))
		}
	}
}

// required returns the versions of what a module of the repository requires,
// replacements applied.
func required(t *testing.T, module string) map[string]string {
	t.Helper()
	name := filepath.Join("..", "..", filepath.FromSlash(module), "go.mod")
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	file, err := modfile.Parse(name, content, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(file.Require) == 0 {
		t.Fatalf("%s requires nothing", name)
	}
	versions := map[string]string{}
	for _, r := range file.Require {
		versions[r.Mod.Path] = r.Mod.Version
	}
	for _, r := range file.Replace {
		if _, ok := versions[r.Old.Path]; ok {
			versions[r.Old.Path] = r.New.Version
		}
	}
	return versions
}
