package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/sets"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
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
		case entry.IsDir() && slices.Contains([]string{"bin", ".git", "node_modules"}, entry.Name()):
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

// whoMaySetWhat returns the lines of that table, without its head.
func whoMaySetWhat(t *testing.T) []string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, "docs", "reference", "who-may-set-what.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(content), "<!-- claims: each test that is named here exists -->\n\n")
	if !found {
		t.Fatal("docs/reference/who-may-set-what.md has no table")
	}
	table, _, _ := strings.Cut(rest, "\n\n")
	lines := strings.Split(table, "\n")
	const head = 2
	if len(lines) <= head {
		t.Fatal("the table has no lines")
	}
	return lines[head:]
}

// Each line of the table who may set what names a test, and that test exists.
func TestEveryLineOfWhoMaySetWhatIsHeldByATest(t *testing.T) {
	t.Parallel()
	declared := declaredTests(t)
	for _, line := range whoMaySetWhat(t) {
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

// The table has all that users can write of a WorkloadProfile, and all labels and annotations of Loadline's that its programs read.
func TestWhoMaySetWhatIsSaidOfAllThatCanBeSet(t *testing.T) {
	t.Parallel()
	settable := labelsRead(t)
	for field := range reflect.TypeFor[v1alpha1.WorkloadProfileSpec]().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		settable = append(settable, name)
	}
	if len(settable) < 20 {
		t.Fatalf("only %q can be set", settable)
	}
	var said strings.Builder
	for _, line := range whoMaySetWhat(t) {
		said.WriteString(strings.Split(line, " | ")[0])
	}
	for _, name := range settable {
		if !regexp.MustCompile("`" + regexp.QuoteMeta(name) + "[`.]").MatchString(said.String()) {
			t.Errorf("no line of the table says who may set %s", name)
		}
	}
}

// labelsRead returns the keys of the labels and annotations of Loadline's that programs name.
func labelsRead(t *testing.T) []string {
	t.Helper()
	const module = "loadline.dev/loadline"
	key := regexp.MustCompile(`"(loadline\.dev/[a-z-]+)"`)
	keys := sets.New[string]()
	for _, folder := range []string{"apis", "cmd", "pkg"} {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			content, err := os.ReadFile(path)
			for _, m := range key.FindAllStringSubmatch(string(content), -1) {
				keys.Insert(m[1])
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return sets.List(keys.Delete(module))
}
