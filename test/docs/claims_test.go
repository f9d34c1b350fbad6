package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	testDeclared = regexp.MustCompile(`(?m)^func (Test\w+)\(t \*testing\.T\)`)
	testNamed    = regexp.MustCompile("`(Test\\w+)`")
)

// declaredTests returns the names of the tests of all modules.
func declaredTests(t *testing.T) map[string]bool {
	t.Helper()
	declared := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "bin" || entry.Name() == ".git"):
			return fs.SkipDir
		case !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		content, err := os.ReadFile(path)
		for _, m := range testDeclared.FindAllStringSubmatch(string(content), -1) {
			declared[m[1]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return declared
}

// Each line of the table who may set what names a test, and that test exists.
func TestEveryLineOfWhoMaySetWhatIsHeldByATest(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile(filepath.Join(root, "docs", "security.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(content), "<!-- claims: each test that is named here exists -->\n\n")
	if !found {
		t.Fatal("docs/security.md has no table of who may set what")
	}
	table, _, _ := strings.Cut(rest, "\n\n")
	declared := declaredTests(t)
	lines := strings.Split(table, "\n")
	const head = 2
	if len(lines) <= head {
		t.Fatal("the table has no lines")
	}
	for _, line := range lines[head:] {
		named := testNamed.FindAllStringSubmatch(line, -1)
		if len(named) == 0 {
			t.Errorf("no test holds the line %s", line)
		}
		for _, m := range named {
			if !declared[m[1]] {
				t.Errorf("there is no %s, which holds the line %s", m[1], line)
			}
		}
	}
}
