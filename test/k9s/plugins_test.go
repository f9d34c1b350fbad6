package k9s

import (
	"bytes"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"loadline.dev/loadline/pkg/cli"
)

// root is the root of the repository.
var root = filepath.Join("..", "..")

// plugin is an entry of a file of plugins, with what the schema of k9s has for it as far as we use it.
type plugin struct {
	ShortCut    string   `json:"shortCut"`
	Description string   `json:"description"`
	Scopes      []string `json:"scopes"`
	Command     string   `json:"command"`
	Args        []string `json:"args"`
	Background  bool     `json:"background"`
	Confirm     bool     `json:"confirm"`
}

// plugins returns the entries of the file, by name.
func plugins(t *testing.T) map[string]plugin {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, "ui", "k9s", "loadline.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Plugins map[string]plugin `json:"plugins"`
	}
	if err := yaml.UnmarshalStrict(content, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Plugins) == 0 {
		t.Fatal("there are no plugins")
	}
	return file.Plugins
}

// variable is what k9s replaces in arguments.
var variable = regexp.MustCompile(`\$!?[\w|-]+`)

// replaced returns the arguments of a plugin as k9s runs them. It does not run a plugin with a variable that it does not know.
func replaced(t *testing.T, p plugin, variables map[string]string) []string {
	t.Helper()
	var args []string
	for _, arg := range p.Args {
		args = append(args, variable.ReplaceAllStringFunc(arg, func(name string) string {
			value, known := variables[name]
			if !known {
				t.Errorf("%q: k9s does not know %s in the views %q", arg, name, p.Scopes)
			}
			return value
		}))
	}
	return args
}

// selected are the variables of what is selected in a view, which is there in the example.
func selected(scope, context, kubeconfig string) map[string]string {
	variables := map[string]string{"$CONTEXT": context, "$KUBECONFIG": kubeconfig}
	switch scope {
	case "pods":
		variables["$NAMESPACE"], variables["$NAME"] = "shop", "cart-7c9f4-x2k8p"
	case "deployments":
		variables["$NAMESPACE"], variables["$NAME"] = "shop", "cart"
	case "statefulsets":
		variables["$NAMESPACE"], variables["$NAME"] = "etl", "sort"
	case "daemonsets":
		variables["$NAMESPACE"], variables["$NAME"] = "logs", "agent"
	case "nodes":
		variables["$NAME"] = "node-1"
	}
	return variables
}

// taken are the keys that k9s itself has in the views of pods, workloads and nodes, for sorting and for jumping to the owner.
var taken = strings.Fields("Shift-A Shift-C Shift-F Shift-I Shift-J Shift-L Shift-M Shift-N Shift-O Shift-P Shift-Q Shift-R Shift-S Shift-T Shift-U Shift-V Shift-X Shift-Z")

func TestEachKeyHasOneMeaningInAView(t *testing.T) {
	t.Parallel()
	keys := map[string][]string{}
	for name, p := range plugins(t) {
		if p.Description == "" || p.Command == "" || len(p.Scopes) == 0 || p.Background || p.Confirm {
			t.Errorf("%s: it must have a description, a command and scopes, and what it runs is shown and changes nothing: %+v", name, p)
		}
		if !regexp.MustCompile(`^Shift-[A-Z]$`).MatchString(p.ShortCut) || slices.Contains(taken, p.ShortCut) {
			t.Errorf("%s: the key %q is none, or one of k9s", name, p.ShortCut)
		}
		for _, scope := range p.Scopes {
			if slices.Contains(keys[scope], p.ShortCut) {
				t.Errorf("%s: in the view %s another plugin has the key %s", name, scope, p.ShortCut)
			}
			keys[scope] = append(keys[scope], p.ShortCut)
		}
	}
	if diff := cmp.Diff([]string{"daemonsets", "deployments", "nodes", "pods", "statefulsets"}, slices.Sorted(maps.Keys(keys))); diff != "" {
		t.Errorf("views (-want +got):\n%s", diff)
	}
}

// Each command line runs as it is, on the files of an example in place of a cluster.
func TestKubectlLoadlineTakesTheCommandLines(t *testing.T) {
	t.Parallel()
	example := filepath.Join(root, "docs", "examples", "who")
	for name, p := range plugins(t) {
		for _, scope := range p.Scopes {
			_, args := shellAndCommand(t, replaced(t, p, selected(scope, "production", "")))
			if !slices.Equal(args[:2], []string{"kubectl", "loadline"}) {
				t.Errorf("%s runs %q", name, args)
				continue
			}
			args = append(args[2:], "-f", filepath.Join(example, "cluster.yaml"))
			if args[0] != "explain" {
				args = append(args, "--usage", filepath.Join(example, "usage.json"))
			}
			var out, errs bytes.Buffer
			code := cli.Run(t.Context(), "v1", args, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &errs})
			if code != 0 || out.Len() == 0 {
				t.Errorf("%s, %s: %q: exit code %d, and\n%s%s", name, scope, args, code, out.String(), errs.String())
			}
		}
	}
}

// shellAndCommand divides the arguments of sh into the script and the command line that it runs, without env.
func shellAndCommand(t *testing.T, args []string) (script string, command []string) {
	t.Helper()
	const before = 5 // -c, the script, its name, env and KUBECONFIG
	if len(args) < before+2 || args[0] != "-c" || args[3] != "env" || !strings.HasPrefix(args[4], "KUBECONFIG=") {
		t.Fatalf("%q is not a script that runs its arguments with a KUBECONFIG", args)
	}
	return args[1], args[before:]
}

// A context and a path may have any characters.
func TestNoNameIsAScript(t *testing.T) {
	t.Parallel()
	for name, p := range plugins(t) {
		for what, context := range map[string]string{
			"a plain one": "production", "spaces and quotes": `my "own" 'cluster'`, "a command": "$(touch pwned)`touch pwned`", "an end": "x; touch pwned; exit 1 #", "an option": "-x",
		} {
			dir := t.TempDir()
			fakes(t, dir)
			variables := selected(p.Scopes[0], context, "/home/"+context+":/second")
			args := replaced(t, p, variables)
			script, command := shellAndCommand(t, args)
			if variable.MatchString(script) {
				t.Errorf("%s: k9s replaces something in the script %q", name, script)
			}
			shell := exec.CommandContext(t.Context(), p.Command, args...)
			shell.Dir, shell.Env = dir, []string{"PATH=" + dir + ":" + os.Getenv("PATH"), "KUBECONFIG=/another", "LESS=-F"}
			printed, err := shell.CombinedOutput()
			if err != nil {
				t.Fatalf("%s: %s: %v\n%s", name, what, err, printed)
			}
			want := "less -+F -S\n" + strings.Join(command[1:], "\n") + "\n" + variables["$KUBECONFIG"] + "\nand an error\n"
			if diff := cmp.Diff(want, string(printed)); diff != "" {
				t.Errorf("%s: %s (-want +got):\n%s", name, what, diff)
			}
			if _, err := os.Stat(filepath.Join(dir, "pwned")); err == nil {
				t.Errorf("%s: %s is run", name, what)
			}
		}
	}
}

// fakes makes a kubectl that prints its arguments, its kubeconfig and an error, and a less that prints what it is given.
func fakes(t *testing.T, dir string) {
	t.Helper()
	for program, script := range map[string]string{
		"kubectl": "printf '%s\\n' \"$@\" \"$KUBECONFIG\"\necho 'and an error' >&2\n",
		"less":    "echo less \"$@\"\ncat\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, program), []byte("#!/bin/sh\n"+script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
}
