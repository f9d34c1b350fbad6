package release_test

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
)

// The modules and the database are in testdata/vulnerabilities: the database reports one function of the standard library.
func TestLintFailsOnlyWhenAVulnerableFunctionIsCalled(t *testing.T) {
	t.Parallel()
	tools := buildTool(t, "govulncheck")
	database := "GOVULNDB=file://" + absolute(t, "hack/release/testdata/vulnerabilities/database")
	for module, found := range map[string]bool{"affected": true, "unaffected": false} {
		t.Run(module, func(t *testing.T) {
			t.Parallel()
			output, err := makeNow(t, "lint-vulnerabilities", tools, database, "VULNERABILITIES=required",
				"RELEASED=hack/release/testdata/vulnerabilities/"+module).CombinedOutput()
			if found != (err != nil) || found != strings.Contains(string(output), "GO-2026-0000") {
				t.Errorf("make fails with %v, want a failure: %t\n%s", err, found, output)
			}
			if strings.Contains(string(output), "not checked") {
				t.Errorf("the database is said to be out of reach:\n%s", output)
			}
		})
	}
}

func TestLintSaysThatTheDatabaseOfVulnerabilitiesCannotBeReached(t *testing.T) {
	t.Parallel()
	tools := buildTool(t, "govulncheck")
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	refusing := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(refusing.Close)
	for name, database := range map[string]string{
		"no server":        gone.URL,
		"no such pages":    refusing.URL,
		"no such folder":   "file:///absent",
		"no such protocol": "gopher://localhost",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := "vulnerabilities are not checked: the database at " + database + " cannot be reached: "
			for required, fails := range map[string]bool{"": false, "required": true} {
				output, err := makeNow(t, "lint-vulnerabilities", tools, "GOVULNDB="+database, "VULNERABILITIES="+required,
					"RELEASED=hack/release/testdata/vulnerabilities/affected").CombinedOutput()
				if fails != (err != nil) {
					t.Errorf("VULNERABILITIES=%s: make fails with %v, want a failure: %t", required, err, fails)
				}
				if said := strings.Count(string(output), want); said != 1 {
					t.Errorf("VULNERABILITIES=%s: %q is said %d times, want once:\n%s", required, want, said, output)
				}
			}
		})
	}
}

func TestLintRefusesAWrongWordForRequired(t *testing.T) {
	t.Parallel()
	output, err := makeNow(t, "lint-vulnerabilities", "TOOLS="+t.TempDir(), "VULNERABILITIES=requird", "--dry-run").CombinedOutput()
	if err == nil || !strings.Contains(string(output), `VULNERABILITIES: "requird" is neither "required" nor empty`) {
		t.Errorf("make says %q, %v", output, err)
	}
}

// buildTool builds one of the tools into a folder of the test's own, and returns the setting that has make take it from there.
func buildTool(t *testing.T, name string) string {
	t.Helper()
	folder := t.TempDir()
	setting := "TOOLS=" + folder
	if output, err := makeNow(t, filepath.Join(folder, name), setting).CombinedOutput(); err != nil {
		t.Fatalf("make %s: %v\n%s", name, err, output)
	}
	return setting
}

// absolute returns the absolute path of a file of the repository.
func absolute(t *testing.T, path string) string {
	t.Helper()
	absolute, err := filepath.Abs(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return absolute
}
