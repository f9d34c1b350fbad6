package cli_test

import (
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"loadline.dev/loadline/pkg/cli/clitest"

	"sigs.k8s.io/yaml"
)

// answers are command lines of every verb that prints an answer.
func answers(t *testing.T) map[string][]string {
	t.Helper()
	dir := t.TempDir()
	profiles := clitest.WriteFile(t, "profiles.yaml", clitest.PaperJobs)
	kubeconfig := clitest.NewServer(t, append(clitest.Installed(), clitest.EtlCluster()...)...).Kubeconfig(t)
	return map[string][]string{
		"predict":       {"predict", "-f", profiles, "--plot", filepath.Join(dir, "p.svg")},
		"size":          {"size", "-f", "../../docs/examples/checkout.yaml", "--plot-servers", filepath.Join(dir, "s.svg")},
		"fit":           {"fit", "-f", "../../test/testdata/colocation/gpu-pairs-k80.csv", "--max-resources", "1"},
		"replay":        {"replay", "-f", profiles, "--generate", "10", "--every", "60s", "--report", filepath.Join(dir, "r.html")},
		"share":         {"share", "-f", "../../config/samples/sharetree.yaml", "--compare"},
		"share --pods":  {"share", "--pods", "../../docs/examples/node.yaml", "--usage", "../../docs/examples/usage.csv"},
		"status":        {"status", "--kubeconfig", kubeconfig},
		"explain":       {"explain", "pod", "sort-0", "--nodes", "--kubeconfig", kubeconfig},
		"version":       {"version", "--kubeconfig", kubeconfig},
		"version alone": {"version", "--client"},
	}
}

func TestStandardOutputHasTheAnswerAndNothingElse(t *testing.T) {
	t.Parallel()
	for name, args := range answers(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, stdout, stderr := clitest.Run(t, "", append(args, "-o", "json")...)
			var fromJSON, fromYAML, more any
			decoder := json.NewDecoder(strings.NewReader(stdout))
			if err := decoder.Decode(&fromJSON); code != 0 || err != nil {
				t.Fatalf("exit code %d, %v: %s\n%s", code, err, stderr, stdout)
			}
			if err := decoder.Decode(&more); !errors.Is(err, io.EOF) {
				t.Errorf("something follows the answer: %v %v", more, err)
			}
			_, stdout, _ = clitest.Run(t, "", append(args, "-o", "yaml")...)
			if err := yaml.Unmarshal([]byte(stdout), &fromYAML); err != nil {
				t.Fatal(err)
			}
			for key := range asObject(t, fromJSON) {
				if _, there := asObject(t, fromYAML)[key]; !there {
					t.Errorf("%s is in JSON and not in YAML", key)
				}
			}
			_, table, _ := clitest.Run(t, "", args...)
			if strings.ContainsAny(table, "\x1b\r") {
				t.Errorf("the table has control sequences: %q", table)
			}
		})
	}
}

func asObject(t *testing.T, v any) map[string]any {
	t.Helper()
	object, is := v.(map[string]any)
	if !is {
		t.Fatalf("the answer is a %T", v)
	}
	return object
}

func TestATemplatePrintsAPartOfAnAnswer(t *testing.T) {
	t.Parallel()
	for template, want := range map[string]string{
		"{.pods[0].profile}":                           "filecomp",
		"{.pods[*].copies}":                            "1 1",
		"{.pods[?(@.profile=='std-io')].dilation}":     "1.42",
		`{range .pods[*]}{.profile}{"\n"}{end}`:        "filecomp\nstd-io\n",
		"{.nothing}":                                   "",
		`{.solver}{"\t"}{.resources[0].servers}{"\n"}`: "exact\t1\n",
	} {
		if code, stdout, stderr := clitest.Run(t, clitest.PaperJobs, "predict", "-f", "-", "-o", "jsonpath="+template); code != 0 || stdout != want {
			t.Errorf("%s: exit code %d, output %q, errors %q, want %q", template, code, stdout, stderr, want)
		}
	}
	for template, want := range map[string]string{
		"":         "jsonpath= takes a template, such as jsonpath={.version}",
		"{.pods[":  "{.pods[ is not a template such as {.version}: ",
		"{.pods.x": "is not a template such as {.version}: ",
	} {
		code, stdout, stderr := clitest.Run(t, clitest.PaperJobs, "predict", "-f", "-", "-o", "jsonpath="+template)
		if code != 2 || stdout != "" || !strings.Contains(stderr, want) {
			t.Errorf("%q: exit code %d, output %q, errors %q, want %q", template, code, stdout, stderr, want)
		}
	}
}

// numbers are those of tables, with their units.
var numbers = regexp.MustCompile(`\d\S*`)

func TestWithoutHeadersOnlyRowsArePrinted(t *testing.T) {
	t.Parallel()
	headers := []string{"CHECK", "JOB", "METHOD", "MODEL", "POD", "POLICY", "POOL", "RANK", "RESOURCE"}
	count := func(lines []string) int {
		n := 0
		for _, line := range lines {
			if words := strings.Fields(line); len(words) > 0 && slices.Contains(headers, words[0]) {
				n++
			}
		}
		return n
	}
	want := map[string]int{"predict": 1, "size": 1, "fit": 2, "replay": 1, "share": 1, "share --pods": 1, "status": 1, "explain": 2}
	for name, args := range answers(t) {
		tables, has := want[name]
		if !has {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, with, stderr := clitest.Run(t, "", args...)
			if lines := strings.Split(with, "\n"); code != 0 || count(lines) != tables {
				t.Fatalf("exit code %d, %d headers, want %d: %s\n%s", code, count(lines), tables, stderr, with)
			}
			code, without, stderr := clitest.Run(t, "", append(args, "--no-headers")...)
			lines := strings.Split(strings.TrimSuffix(without, "\n"), "\n")
			form := func(text string) string { return numbers.ReplaceAllString(clitest.Squeezed(text), "#") } // times differ
			rows := strings.Split(form(with), "\n")
			none := func(line string) bool { return strings.HasSuffix(line, ".") || !slices.Contains(rows, form(line)) }
			if code != 0 || count(lines) != 0 || slices.Contains(lines, "") || slices.ContainsFunc(lines, none) {
				t.Errorf("exit code %d: %s\n%s\nwith headers:\n%s", code, stderr, without, with)
			}
		})
	}
}
