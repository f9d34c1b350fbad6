package docs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// checks are commands, by their beginning, that are not run here: why, and what is checked in place of it. The first that
// fits counts.
var checks = []struct {
	begins, why string
	check       func(words []string) error
}{
	{"make ", "builds, or starts what takes minutes, root, or a cluster; continuous integration runs most targets", checkMake},
	{"helm ", "test/install runs the real helm on real nodes", checkHelm},
	{"go test ", "tests, which run by themselves", checkGoTest},
	{"go run ./", "runs until it is stopped, or for long", checkGoRun},
	{"bin/tools/cluster ", "needs a running cluster with real nodes: test/install", checkClusterTool},
	{"export KUBECONFIG=$(bin/tools/cluster kubeconfig) ", "names the cluster of the reader", checkNothing},
	{"export KUBECONFIG=$PWD/out/kind.kubeconfig ", "names the cluster of the reader", checkNothing},
	{"export PATH=", "is about the reader's shell", checkNothing},
	{"export PROBE=", "names an image of the reader's cluster", checkNothing},
	{"rm ", "removes what the page's commands made", checkNothing},
	{"sed ", "writes a name of the reader's into a file of ours", checkPaths},
	{"sha256sum ", "needs the files of a release", checkNothing},
	{"tar ", "needs an archive of a release", checkNothing},
	{"oc ", "needs OpenShift", checkNothing},
	{".ci/run ", "runs everything, this test included", checkFile},
	{"loadline-manager ", "runs until it is stopped: test/integration starts it", checkProgram},
	{"loadline-scheduler ", "runs until it is stopped: test/integration starts it", checkProgram},
	{"loadline-gauge ", "runs until it is stopped, on a node: cmd/loadline-gauge tests it", checkProgram},
	{"loadline-probe ", "runs for as long as it is told: pkg/probe tests it", checkProgram},
	{"docker ", "needs Docker", checkNothing},
	{"git ", "changes the reader's repository", checkNothing},
	{"kubectl ", "see the list elsewhere", checkFiles},
}

func checkNothing([]string) error { return nil }

// checkFile checks that the first word is a file of the repository.
func checkFile(words []string) error {
	if !exists(words[0]) {
		return fmt.Errorf("there is no %s", words[0])
	}
	return nil
}

// checkPaths checks that what is in the folder of the pages is there.
func checkPaths(words []string) error {
	for _, word := range words {
		if strings.HasPrefix(word, "docs/") && !exists(word) {
			return fmt.Errorf("there is no %s", word)
		}
	}
	return nil
}

// checkFiles checks that what -f names is a file of the repository, if it looks like one of ours.
func checkFiles(words []string) error {
	for i, word := range words[1:] {
		if words[i] != "-f" && words[i] != "--filename" && words[i] != "-k" || word == "-" {
			continue
		}
		if strings.Contains(word, "/") && !exists(word) {
			return fmt.Errorf("there is no %s", word)
		}
	}
	return nil
}

// checkMake checks that the targets are in the Makefile.
func checkMake(words []string) error {
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		return err
	}
	quoted := false // of ARGS='…' all words belong to a variable
	for _, word := range words[1:] {
		variable := quoted || strings.Contains(word, "=")
		if strings.Count(word, "'")%2 == 1 {
			quoted = !quoted
		}
		target := strings.Replace(word, "bin/tools/", "$(TOOLS)/", 1)
		if !variable && !regexp.MustCompile(`(?m)^([^\s:]+ )*`+regexp.QuoteMeta(target)+`( [^\s:]+)*:`).Match(makefile) {
			return fmt.Errorf("the Makefile has no target %s", word)
		}
	}
	return nil
}

// checkHelm checks that the chart, and the values that are set, exist.
func checkHelm(words []string) error {
	for i, word := range words {
		switch {
		case i > 0 && words[i-1] == "--values" && strings.Contains(word, "/"):
			if !exists(word) {
				return fmt.Errorf("there is no %s", word)
			}
		case strings.HasPrefix(word, "charts/") && !exists(word+"/Chart.yaml"):
			return fmt.Errorf("there is no chart %s", word)
		case word == "--set" && i+1 < len(words):
			if err := checkValues(strings.Trim(words[i+1], "'")); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkValues checks that the chart knows the values of a --set.
func checkValues(assignments string) error {
	content, err := os.ReadFile(filepath.Join(root, "charts", "loadline", "values.yaml"))
	if err != nil {
		return err
	}
	for assignment := range strings.SplitSeq(assignments, ",") {
		var values any
		if err := yaml.Unmarshal(content, &values); err != nil {
			return err
		}
		name, _, _ := strings.Cut(assignment, "=")
		for part := range strings.SplitSeq(name, ".") {
			fields, isObject := values.(map[string]any)
			if values = fields[part]; !isObject || values == nil {
				return fmt.Errorf("the chart has no value %s", name)
			}
		}
	}
	return nil
}

// checkGoTest checks that the packages exist, and have tests that the patterns name, and the flags that are not go's.
func checkGoTest(words []string) error {
	i := slices.IndexFunc(words, func(word string) bool { return strings.HasPrefix(word, "./") })
	if i < 0 {
		return errors.New("names no package")
	}
	sources, err := sourcesOf(words[i], "*_test.go")
	if err != nil {
		return err
	}
	for k, word := range words {
		flag, isFlag := strings.CutPrefix(word, "-")
		if !isFlag {
			continue
		}
		switch {
		case flag == "run" || flag == "bench":
			kind := map[string]string{"run": "Test", "bench": "Benchmark"}[flag]
			if err := checkPattern(sources, kind, strings.Trim(words[k+1], "'")); err != nil {
				return err
			}
		case slices.Contains([]string{"v", "parallel", "timeout", "tags", "benchtime", "count", "args", "kubeconfig", "update", "cpuprofile"}, flag):
		case !strings.Contains(sources, `"`+flag+`"`):
			return fmt.Errorf("%s has no flag -%s", words[i], flag)
		}
	}
	return nil
}

// sourcesOf returns the source of those of a folder's files that fit a pattern.
func sourcesOf(folder, pattern string) (string, error) {
	files, err := filepath.Glob(filepath.Join(root, folder, pattern))
	if err != nil || len(files) == 0 {
		return "", errors.Join(err, fmt.Errorf("%s has no %s", folder, pattern))
	}
	var all strings.Builder
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		all.Write(content)
	}
	return all.String(), nil
}

// checkPattern checks that each alternative of a pattern names a test; one that is to name none is left alone.
func checkPattern(sources, kind, pattern string) error {
	if slices.Contains([]string{"^$", "-", "xxx", "."}, pattern) {
		return nil
	}
	for alternative := range strings.SplitSeq(pattern, "|") {
		if !regexp.MustCompile(`(?m)^func ` + kind + `\w*` + alternative + `\w*\(`).MatchString(sources) {
			return fmt.Errorf("no %s is called %s", kind, alternative)
		}
	}
	return nil
}

// checkGoRun checks that there is such a command.
func checkGoRun(words []string) error {
	if !exists(words[2] + "/main.go") {
		return fmt.Errorf("there is no command %s", words[2])
	}
	return nil
}

// checkClusterTool checks that hack/cluster has the verb, and that the programs that it is given exist.
func checkClusterTool(words []string) error {
	sources, err := sourcesOf("hack/cluster", "*.go")
	if err != nil {
		return err
	}
	if use := regexp.MustCompile(`\bUse:\s+"` + regexp.QuoteMeta(words[1]) + `[ "]`); !use.MatchString(sources) {
		return fmt.Errorf("hack/cluster has no verb %s", words[1])
	}
	for _, word := range words[2:] {
		if program, built := strings.CutPrefix(word, "bin/"); built && !exists("cmd/"+program) {
			return fmt.Errorf("there is no program %s", program)
		}
	}
	return nil
}

// checkProgram checks that a program declares the flags that it is given, or takes them from kube-scheduler.
func checkProgram(words []string) error {
	sources, err := sourcesOf("cmd/"+words[0], "*.go")
	if err != nil {
		return err
	}
	for _, word := range words[1:] {
		flag, isFlag := strings.CutPrefix(word, "--")
		flag, _, _ = strings.Cut(flag, "=")
		inherited := words[0] == "loadline-scheduler" && flag == "config"
		if isFlag && !inherited && !strings.Contains(sources, `"`+flag+`"`) {
			return fmt.Errorf("%s has no flag --%s", words[0], flag)
		}
	}
	return nil
}
