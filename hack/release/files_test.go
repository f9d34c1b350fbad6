package release_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"sigs.k8s.io/yaml"
)

// root is the root of the repository.
const root = "../.."

// text returns a file of the repository.
func text(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// decode reads a YAML file of the repository.
func decode(t *testing.T, path string, into any) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(text(t, path)), into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// glob returns the files of the repository that match a pattern; there must be some.
func glob(t *testing.T, pattern string) []string {
	t.Helper()
	paths, err := fs.Glob(os.DirFS(root), pattern)
	if err != nil || len(paths) == 0 {
		t.Fatalf("%s: %d files, %v", pattern, len(paths), err)
	}
	return paths
}

// programs are the names of Loadline's commands.
func programs(t *testing.T) []string {
	t.Helper()
	var names []string
	for _, path := range glob(t, "cmd/*") {
		names = append(names, filepath.Base(path))
	}
	return names
}
