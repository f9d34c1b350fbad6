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
	for _, module := range []string{".", "hack/cluster", "hack/cluster/binaries", "hack/cluster/binaries/node", "hack/cluster/binaries/coredns", "hack/experiments"} {
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

// Kubernetes is built from many modules, which are released together: v0.34.12 of each is of Kubernetes v1.34.12.
func TestModulesOfAnotherKubernetesHaveAllOfItFromOneRelease(t *testing.T) {
	t.Parallel()
	folders, err := filepath.Glob("../cluster/binaries/v*")
	if err != nil || len(folders) == 0 {
		t.Fatalf("found the modules %q: %v", folders, err)
	}
	for _, folder := range folders {
		name := filepath.Base(folder)
		file := parse(t, "hack/cluster/binaries/"+name)
		minor, patch, found := strings.Cut(strings.TrimPrefix(required(t, "hack/cluster/binaries/"+name)["k8s.io/kubernetes"], "v1."), ".")
		if !found || "v1."+minor != name {
			t.Errorf("%s pins Kubernetes v1.%s.%s", name, minor, patch)
		}
		want := "v0." + minor + "." + patch
		for _, r := range file.Replace {
			if r.New.Version != want {
				t.Errorf("%s: %s is %s, want %s", name, r.Old.Path, r.New.Version, want)
			}
		}
		if len(file.Tool) != 6 {
			t.Errorf("%s has %d programs, want 6", name, len(file.Tool))
		}
	}
}

// required returns the versions of what a module of the repository requires,
// replacements applied.
func required(t *testing.T, module string) map[string]string {
	t.Helper()
	file := parse(t, module)
	if len(file.Require) == 0 {
		t.Fatalf("%s requires nothing", module)
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

// parse reads the go.mod of a module of the repository.
func parse(t *testing.T, module string) *modfile.File {
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
	return file
}
