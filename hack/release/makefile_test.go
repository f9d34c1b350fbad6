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
	named := found(t, `\bbin/tools/([a-z-]+)\b`, ".md", ".yaml")
	rules := regexp.MustCompile(`\$\(TOOLS\)/([a-z-]+)[^\n]*:`).FindAllStringSubmatch(text(t, "Makefile"), -1)
	for _, rule := range rules {
		named[rule[1]] = "Makefile"
	}
	if len(rules) == 0 || named["helm"] == "" || named["cluster"] == "" {
		t.Fatalf("found %d rules and the tools %v", len(rules), named)
	}
	for name, where := range named {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			relative, full := dryRun(t, "bin/tools/"+name), dryRun(t, absolute(t, "bin/tools/"+name))
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
	return makeNow(t, target, "--dry-run", "--always-make")
}

// makeNow is make for a target, with settings of variables and flags.
func makeNow(t *testing.T, target string, settings ...string) *exec.Cmd {
	t.Helper()
	c := exec.CommandContext(t.Context(), "make", append([]string{"--no-print-directory", target}, settings...)...)
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

// Messages say what to run; it must be there.
func TestMessagesNameTargetsOfTheMakefile(t *testing.T) {
	t.Parallel()
	messages := found(t, `\brun make ([a-z/-]+)`, ".go")
	if messages["generate"] == "" {
		t.Fatalf("found %v", messages)
	}
	makefile := text(t, "Makefile")
	for target, where := range messages {
		rule := regexp.QuoteMeta(strings.Replace(target, "bin/tools/", "$(TOOLS)/", 1))
		if !regexp.MustCompile(`(?m)^([^\s:]+ )*` + rule + `( [^\s:]+)*:`).MatchString(makefile) {
			t.Errorf("%s says to run make %s, for which there is no rule", where, target)
		}
	}
}

// found returns what the first group of a pattern matches in files of the repository,
// each with one of the files.
func found(t *testing.T, pattern string, extensions ...string) map[string]string {
	t.Helper()
	matches := map[string]string{}
	expression := regexp.MustCompile(pattern)
	err := fs.WalkDir(os.DirFS(root), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if slices.Contains([]string{".git", "bin", "out"}, path) || entry.Name() == "node_modules" {
				return fs.SkipDir
			}
			return nil
		}
		if slices.Contains(extensions, filepath.Ext(path)) {
			for _, m := range expression.FindAllStringSubmatch(text(t, path), -1) {
				matches[m[1]] = path
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return matches
}
