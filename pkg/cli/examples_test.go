package cli_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"loadline.dev/loadline/pkg/cli"
	"loadline.dev/loadline/pkg/cli/access"
	"loadline.dev/loadline/pkg/cli/clitest"
	"loadline.dev/loadline/pkg/cli/verb"
)

// What the examples call by these names: content, or a file of the repository.
var exampleFiles = map[string]string{
	"profiles.yaml":          examplesProfiles,
	"deployment.yaml":        "@docs/examples/deployment.yaml",
	"manifests/below/a.yaml": examplesProfiles,
	"cluster.yaml":           clitest.FiveWorkers,
	"pod.yaml":               "apiVersion: v1\nkind: Pod\nmetadata: {name: filecomp-8, labels: {app: filecomp}}\nspec: {containers: [{name: main}]}\n",
	"replay.yaml":            "apiVersion: loadline.dev/v1alpha1\nkind: TraceReplay\nmetadata: {name: week}\nspec: {trace: {}, nodes: [{name: a, count: 2}]}\n",
	"jobs.csv":               clitest.ThreeJobs,
	"lastweek.csv":           clitest.ThreeJobs,
	"nodes.yaml":             "@config/samples/nodeprofile.yaml",
	"poolplan.yaml":          "@docs/examples/checkout.yaml",
	"sharetree.yaml":         "@config/samples/sharetree.yaml",
	"lublin_256.swf.gz":      "@test/testdata/lublin/lublin_256.swf.gz",
	"openb_pod_list.csv.gz":  "@test/testdata/openb/openb_pod_list_first_2000.csv",
	"openb_node_list.csv":    "@test/testdata/openb/openb_node_list_all_node.csv",
	"observations.csv":       exampleObservations(),
	"usage.json":             "@docs/examples/who/usage.json",
}

const examplesProfiles = `apiVersion: loadline.dev/v1alpha1
kind: WorkloadProfile
metadata: {name: filecomp}
spec:
  selector: {matchLabels: {app: filecomp}}
  resources: [{name: cpu, loading: "0.58"}, {name: disk, loading: "0.42"}]
  neutralMillis: 78100
---
apiVersion: loadline.dev/v1alpha1
kind: WorkloadProfile
metadata: {name: sort}
spec:
  selector: {matchLabels: {app: sort}}
  resources: [{name: cpu, loading: "0.9"}, {name: disk, loading: "0.1"}]
  neutralMillis: 56000
`

// exampleObservations are all pairs and triples of three jobs of two resources, by
// Eq. (5) of the D-factor paper.
func exampleObservations() string {
	jobs := []struct {
		name      string
		cpu, disk float64
	}{{"filecomp", 0.58, 0.42}, {"sort", 0.9, 0.1}, {"std-io", 0, 1}}
	var b strings.Builder
	b.WriteString("run,job,dilation\n")
	run := 0
	add := func(together ...int) {
		run++
		for a := range together {
			dilation := 1.0
			for k := range together {
				if k != a {
					dilation += jobs[together[a]].cpu*jobs[together[k]].cpu + jobs[together[a]].disk*jobs[together[k]].disk
				}
			}
			fmt.Fprintf(&b, "%d,%s,%.4f\n", run, jobs[together[a]].name, dilation)
		}
	}
	for i := range jobs {
		for j := i; j < len(jobs); j++ {
			add(i, j)
			for k := j; k < len(jobs); k++ {
				add(i, j, k)
			}
		}
	}
	return b.String()
}

// Every example of the help works as typed, given the files that it names. Those that
// ask a cluster get as far as looking for one.
//
//nolint:paralleltest // it changes the folder
func TestTheExamplesOfTheHelpWork(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	t.Chdir(dir)
	for name, content := range exampleFiles {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if file, linked := strings.CutPrefix(content, "@"); linked {
			err = os.Symlink(filepath.Join(root, file), path)
		} else {
			err = os.WriteFile(path, []byte(content), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	ran, asked := 0, 0
	for _, verb := range withAllBelow(cli.NewRoot("v1", cli.Streams{})) {
		for line := range strings.SplitSeq(strings.ReplaceAll(verb.Example, "\\\n", " "), "\n") {
			if !strings.Contains(line, "kubectl loadline ") || strings.HasPrefix(strings.TrimSpace(line), "#") {
				continue
			}
			if runExample(t, strings.TrimSpace(line)) {
				asked++
			}
			ran++
		}
	}
	if ran < 30 || asked > ran/2 {
		t.Errorf("ran %d examples, of which %d ask a cluster", ran, asked)
	}
}

// withAllBelow returns a command and all of its verbs, and theirs.
func withAllBelow(command *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{command}
	for _, verb := range command.Commands() {
		all = append(all, withAllBelow(verb)...)
	}
	return all
}

// untilServed is the output of a command that is interrupted once it serves a page.
type untilServed struct {
	to        io.Writer
	interrupt func()
}

func (u *untilServed) Write(p []byte) (int, error) {
	if bytes.HasPrefix(p, []byte("Open http://")) {
		u.interrupt()
	}
	return u.to.Write(p)
}

// runExample runs a line, and reports whether it looked for a cluster.
func runExample(t *testing.T, line string) (asked bool) {
	t.Helper()
	line, _, _ = strings.Cut(line, " > ")
	input := ""
	for command := range strings.SplitSeq(line, " | ") {
		command, ours := strings.CutPrefix(command, "kubectl loadline ")
		if !ours {
			t.Fatalf("%s: %q is no command of ours", line, command)
		}
		args := strings.Fields(strings.ReplaceAll(command, "'", ""))
		var out, errs bytes.Buffer
		ctx, interrupt := context.WithCancel(t.Context())
		code := cli.Run(ctx, "v1", args, cli.Streams{In: strings.NewReader(input), Out: &untilServed{&out, interrupt}, Err: &errs})
		interrupt()
		input = out.String()
		if code == verb.ExitWrong && strings.Contains(errs.String(), access.ErrNoKubeconfig.Error()) && slices.Contains([]string{"record", "status", "explain", "share", "check", "who", "plan", "top", "profiles", "ui"}, args[0]) {
			asked, input = true, clitest.ThreeJobs // as a cluster might have answered
			continue
		}
		if no := code == verb.ExitNo && input != ""; code != verb.ExitDone && !no { // the answer may be that an SLA is missed
			t.Errorf("%s\nexit code %d: %s", line, code, errs.String())
		}
	}
	return asked
}
