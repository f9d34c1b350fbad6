package release_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Pages and workflows name tools as one types them, bin/tools/helm; the
// Makefile has its rules by their absolute paths, which "make" must find by either.
func TestMakeBuildsEveryToolByTheNameThatPagesGiveIt(t *testing.T) {
	t.Parallel()
	named := namedTools(t)
	rules := regexp.MustCompile(`\$\(TOOLS\)/([a-z-]+)[^\n]*:`).FindAllStringSubmatch(text(t, "Makefile"), -1)
	for _, rule := range rules {
		named[rule[1]] = "Makefile"
	}
	if len(rules) == 0 || named["helm"] == "" || named["cluster"] == "" {
		t.Fatalf("found %d rules and the tools %v", len(rules), named)
	}
	absolute, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	for name, where := range named {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			relative, full := dryRun(t, "bin/tools/"+name), dryRun(t, filepath.Join(absolute, "bin", "tools", name))
			if relative != full {
				t.Errorf("%s names bin/tools/%s, for which make runs\n%s\nand for its absolute path\n%s", where, name, relative, full)
			}
			if !strings.Contains(relative, "go build") {
				t.Errorf("%s names bin/tools/%s, for which make builds nothing:\n%s", where, name, relative)
			}
		})
	}
}

func TestMakeRefusesAToolThatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	output, err := makeDry(t, "bin/tools/no-such-tool").CombinedOutput()
	if err == nil || !strings.Contains(string(output), "No rule to make target 'bin/tools/no-such-tool'") {
		t.Errorf("make says %q, %v", output, err)
	}
}

// makeDry is make that prints what it would run for a target that is not there yet.
func makeDry(t *testing.T, target string) *exec.Cmd {
	t.Helper()
	c := exec.CommandContext(t.Context(), "make", "--dry-run", "--always-make", "--no-print-directory", target)
	c.Dir = root
	// The make that may have started this test passes on no flags.
	c.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "MAKE") || strings.HasPrefix(v, "MFLAGS=") })
	c.Env = append(c.Env, "LC_ALL=C")
	return c
}

func dryRun(t *testing.T, target string) string {
	t.Helper()
	output, err := makeDry(t, target).CombinedOutput()
	if err != nil {
		t.Errorf("make %s: %v\n%s", target, err, output)
	}
	return string(output)
}

// namedTools returns the tools that pages and workflows name by their relative paths,
// each with one of the files that do.
func namedTools(t *testing.T) map[string]string {
	t.Helper()
	tools := map[string]string{}
	tool := regexp.MustCompile(`\bbin/tools/([a-z-]+)\b`)
	err := fs.WalkDir(os.DirFS(root), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if slices.Contains([]string{".git", "bin", "out"}, path) {
				return fs.SkipDir
			}
			return nil
		}
		if slices.Contains([]string{".md", ".yaml"}, filepath.Ext(path)) {
			for _, m := range tool.FindAllStringSubmatch(text(t, path), -1) {
				tools[m[1]] = path
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return tools
}
