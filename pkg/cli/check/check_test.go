package check_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadline.dev/loadline/pkg/cli/clitest"
	"loadline.dev/loadline/pkg/cli/verb"
	"loadline.dev/loadline/pkg/validate"
)

const goodProfile = `apiVersion: loadline.dev/v1alpha1
kind: WorkloadProfile
metadata: {name: filecomp, namespace: etl}
spec:
  selector: {matchLabels: {app: filecomp}}
  resources: [{name: cpu, loading: "0.58"}]
`

// unquoted is goodProfile with a number in place of a string, on line 6.
var unquoted = strings.Replace(goodProfile, `"0.58"`, "0.58", 1)

const pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: web-0, namespace: shop}\n"

func TestCheckSaysWhatToWriteInstead(t *testing.T) {
	t.Parallel()
	path := clitest.WriteFile(t, "profiles.yaml", pod+"---\n# second\n"+unquoted)
	code, stdout, stderr := clitest.Run(t, "", "check", "-f", path)
	want := path + `:11: WorkloadProfile etl/filecomp: spec.resources[0].loading: 0.58 is a number where the API wants a string: write loading: "0.58"
1 object in 1 file: 1 error, 0 warnings; the API server would refuse 1
Skipped, being of other kinds: Pod shop/web-0
`
	if diff := cmp.Diff(want, stdout); code != verb.ExitNo || stderr != "Error: 1 error in 1 object\n" || diff != "" {
		t.Errorf("exit code %d, errors %q (-want +got):\n%s", code, stderr, diff)
	}

	code, stdout, _ = clitest.Run(t, "", "check", "-f", path, "-o", "json")
	var answer validate.Answer
	if err := json.Unmarshal([]byte(stdout), &answer); err != nil || code != verb.ExitNo {
		t.Fatalf("exit code %d, %v", code, err)
	}
	finding := validate.Finding{
		Place: validate.Place{File: path, Document: 2, Line: 11}, Object: &validate.ObjectName{Kind: "WorkloadProfile", Namespace: "etl", Name: "filecomp"},
		Field: "spec.resources[0].loading", Level: validate.Error, By: validate.ByAPIServer,
		Problem: "0.58 is a number where the API wants a string", WriteInstead: `loading: "0.58"`,
	}
	if diff := cmp.Diff([]validate.Finding{finding}, answer.Findings); diff != "" {
		t.Errorf("unexpected findings (-want +got):\n%s", diff)
	}
}

// Texts come in many forms, and a line is that of the file.
func TestCheckReadsWhatKubectlReads(t *testing.T) {
	t.Parallel()
	const found = ` WorkloadProfile etl/filecomp: spec.resources[0].loading: 0.58 is a number`
	good := "1 object in 1 file: nothing is wrong\n"
	inJSON := `{"apiVersion":"loadline.dev/v1alpha1","kind":"NodeProfile","metadata":{"name":"a"},"spec":{"selector":{"matchLabels":{"disk":"ssd"}},"resources":[{"name":"disk","servers":2}]}}`
	utf16 := []byte{0xff, 0xfe}
	for _, b := range []byte(goodProfile) {
		utf16 = append(utf16, b, 0)
	}
	for name, test := range map[string]struct {
		text, want string
		code       int
	}{
		"YAML":                    {goodProfile, good, verb.ExitDone},
		"a mark first":            {"---\n" + goodProfile, good, verb.ExitDone},
		"a mark last":             {goodProfile + "---\n", good, verb.ExitDone},
		"no newline at the end":   {strings.TrimSuffix(goodProfile, "\n"), good, verb.ExitDone},
		"CRLF":                    {strings.ReplaceAll(goodProfile, "\n", "\r\n"), good, verb.ExitDone},
		"a byte order mark":       {"\ufeff" + goodProfile, good, verb.ExitDone},
		"UTF-16":                  {string(utf16), good, verb.ExitDone},
		"JSON":                    {inJSON, good, verb.ExitDone},
		"JSON, one after another": {inJSON + "\n" + strings.Replace(inJSON, `"a"`, `"b"`, 1), ":2: warning: NodeProfile b: spec.selector: NodeProfile a matches the same nodes", verb.ExitDone},
		"JSON in many lines":      {"\n\n" + strings.ReplaceAll(strings.Replace(inJSON, ":2}", `:"2"}`, 1), ",", ",\n"), `:8: NodeProfile a: spec.resources[0].servers: "2" is a string where the API wants a whole number: write servers: 2`, verb.ExitNo},
		"another script":          {strings.Replace(goodProfile, "app: filecomp", "app: процессор", 1), ":5: WorkloadProfile etl/filecomp: spec.selector.matchLabels: процессор: ", verb.ExitNo},

		"a line further down":         {"# one\n\n---\n# four\n---\n" + unquoted, ":11:" + found, verb.ExitNo},
		"a line further down, CRLF":   {strings.ReplaceAll("# one\n\n---\n"+goodProfile+"---\n"+strings.Replace(unquoted, "filecomp, n", "other, n", 1), "\n", "\r\n"), ":16: WorkloadProfile etl/other", verb.ExitNo},
		"the same document once more": {goodProfile + "---\n" + goodProfile, ":10: WorkloadProfile etl/filecomp: metadata.name: the same object is in", verb.ExitNo},
		"nothing":                     {"", "Error: there is no object in 1 file", verb.ExitWrong},
		"a comment":                   {"# nothing\n", "Error: there is no object in 1 file", verb.ExitWrong},
		"cut off":                     {goodProfile[:len(goodProfile)-20], ":6: is not YAML: ", verb.ExitNo},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, stdout, stderr := clitest.Run(t, test.text, "check", "-f", "-")
			if code != test.code || !strings.Contains(stdout+stderr, test.want) {
				t.Errorf("exit code %d, output %q, errors %q, want %d, %q", code, stdout, stderr, test.code, test.want)
			}
		})
	}
}

func TestCheckReadsFolders(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{"a.yaml": goodProfile, "b.txt": "no manifest", "below/c.yml": unquoted} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if code, stdout, _ := clitest.Run(t, "", "check", "-f", dir); code != verb.ExitDone || stdout != "1 object in 1 file: nothing is wrong\n" {
		t.Errorf("a folder: exit code %d, %q", code, stdout)
	}
	code, stdout, _ := clitest.Run(t, "", "check", "-R", "-f", dir)
	for _, want := range []string{
		filepath.Join(dir, "below", "c.yml") + ":6: WorkloadProfile etl/filecomp: spec.resources[0].loading",
		"warning: WorkloadProfile etl/filecomp: metadata.name: the same object is in " + filepath.Join(dir, "a.yaml") + ":1, too",
	} {
		if code != verb.ExitNo || !strings.Contains(stdout, want) {
			t.Errorf("folders in a folder: exit code %d, %q, want %q", code, stdout, want)
		}
	}
	for _, args := range [][]string{{"check"}, {"check", "-f", filepath.Join(dir, "missing.yaml")}, {"check", "-f", dir, "now"}} {
		if code, stdout, stderr := clitest.Run(t, "", args...); code != verb.ExitWrong || stdout != "" || stderr == "" {
			t.Errorf("%v: exit code %d, output %q", args, code, stdout)
		}
	}
}

// What we give as examples has no error.
func TestShippedManifestsPassTheCheck(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{"../../../config/samples", "../../../docs/examples", "../../../config/scheduler"} {
		if code, stdout, _ := clitest.Run(t, "", "check", "-f", dir); code != verb.ExitDone {
			t.Errorf("%s: exit code %d\n%s", dir, code, stdout)
		}
	}
}

func TestCheckAsksAClusterOnRequest(t *testing.T) {
	t.Parallel()
	server := clitest.NewServer(t, clitest.SomeProfiles()...)
	path := clitest.WriteFile(t, "profiles.yaml", goodProfile)
	server.Refuse("apis/loadline.dev/v1alpha1/sharetrees")
	code, _, stderr := server.Ask(t, "check", "-f", path, "--with-cluster")
	if code != verb.ExitWrong || !strings.Contains(stderr, "listing ShareTrees: ") {
		t.Errorf("a cluster that refuses: exit code %d, %q", code, stderr)
	}
	if code, stdout, stderr := server.Ask(t, "check", "-f", path); code != verb.ExitDone {
		t.Errorf("a cluster that is not asked: exit code %d, %q, %q", code, stdout, stderr)
	}
}
