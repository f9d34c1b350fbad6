//go:build e2e

package install

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"loadline.dev/loadline/test/docs/page"
	"loadline.dev/loadline/test/install/printed"
)

// quickStart types what the quick start tells its readers to type, from the clone on,
// on a cluster that is there already.
func quickStart(t *testing.T) {
	clearAway(t)
	root, err := filepath.Abs("../..")
	must(t, err)
	commands := commandsOf(t, root, "docs/quickstart.md")
	answers, err := typeIn(t, root, commands)
	nodes := nodeNames(t)
	for i, answer := range answers {
		c := commands[i]
		t.Logf("line %d: $ %s\n%s", c.Line, c.Text, answer)
		if c.Printed != "" && !printed.Same(nodes.Replace(c.Printed), nodes.Replace(answer)) {
			t.Errorf("line %d: %s\nprints\n%s\nand the page shows\n%s", c.Line, c.Text, answer, c.Printed)
		}
	}
	if err != nil {
		c := commands[len(answers)-1]
		t.Errorf("line %d: %s: %v", c.Line, c.Text, err)
	}
}

// nodeNames replaces the names of the cluster's nodes by those that the page calls them.
func nodeNames(t *testing.T) *strings.Replacer {
	t.Helper()
	var all corev1.NodeList
	must(t, cluster.List(t.Context(), &all))
	called := map[string]string{}
	for i := range all.Items {
		called[all.Items[i].Name] = "system"
	}
	for i := range cluster.Workers {
		called[cluster.Workers[i].Name] = fmt.Sprintf("worker-%d", i+1)
	}
	var pairs []string
	for _, name := range slices.Backward(slices.Sorted(maps.Keys(called))) { // a name before another that it begins with
		pairs = append(pairs, name, called[name])
	}
	return strings.NewReplacer(pairs...)
}

// otherNote is the note of a block that is for another cluster than the one that the tests run on.
func otherNote() string {
	if strings.HasPrefix(cluster.Workers[0].Spec.ProviderID, "kind://") {
		return "on real nodes"
	}
	return "on kind"
}

// commandsOf returns the commands of a page, but for those of which a note says that
// they are not run, or are for another cluster.
func commandsOf(t *testing.T, root, path string) []page.Command {
	t.Helper()
	p, err := page.Read(root, path)
	must(t, err)
	var commands []page.Command
	for i := range p.Blocks {
		if note := p.Blocks[i].Note; !strings.HasPrefix(note, "not run:") && note != otherNote() {
			commands = append(commands, p.Blocks[i].Commands()...)
		}
	}
	if len(commands) < 10 {
		t.Fatalf("%s has %d commands, want 10 or more", path, len(commands))
	}
	return commands
}

// typeIn has one shell run the commands in a folder, up to the first that fails, and
// returns what each has printed.
func typeIn(t *testing.T, dir string, commands []page.Command) (answers []string, err error) {
	t.Helper()
	results := t.TempDir()
	result := func(i int) string { return filepath.Join(results, fmt.Sprint(i)) }
	var script strings.Builder
	for i, c := range commands {
		fmt.Fprintf(&script, "{\n%s\n} >%q 2>&1 || exit\n", c.Text, result(i))
	}
	shell := exec.CommandContext(t.Context(), "bash", "-c", script.String())
	shell.Dir = dir
	shell.Env = append(os.Environ(), "MAKEFLAGS=", "KUBECONFIG="+kubeconfig(), "PATH="+programs(t)+":"+os.Getenv("PATH"))
	if out, failed := shell.CombinedOutput(); failed != nil {
		err = fmt.Errorf("%w: %s", failed, out)
	}
	for i := range commands {
		answer, missing := os.ReadFile(result(i))
		if missing != nil {
			break
		}
		answers = append(answers, string(answer))
	}
	return answers, err
}

// programs returns a folder with helm and kubectl.
func programs(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	helm, err := filepath.Abs(*helmProgram)
	must(t, err)
	must(t, os.Symlink(helm, filepath.Join(dir, "helm")))
	if *kubectl != "kubectl" {
		script := fmt.Sprintf("#!/bin/sh\nexec %s \"$@\"\n", *kubectl)
		must(t, os.WriteFile(filepath.Join(dir, "kubectl"), []byte(script), 0o755))
	}
	return dir
}
