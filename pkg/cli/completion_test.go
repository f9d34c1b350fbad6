package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"loadline.dev/loadline/pkg/cli"
	"loadline.dev/loadline/pkg/cli/clitest"
)

// completed returns the shell's completions of the last of some arguments, without descriptions,
// and cobra's directive.
func completed(t *testing.T, args ...string) (choices []string, directive string) {
	t.Helper()
	code, stdout, stderr := clitest.Run(t, "", append([]string{cobra.ShellCompNoDescRequestCmd}, args...)...)
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	lines := strings.Split(strings.TrimSuffix(stdout, "\n"), "\n")
	return lines[:len(lines)-1], lines[len(lines)-1]
}

const (
	noFiles     = ":4"
	noSpace     = ":6"
	byExtension = ":8"
	onlyFolders = ":16"
	anyFiles    = ":0"
)

func TestTheShellCompletesVerbsAndValues(t *testing.T) {
	t.Parallel()
	profiles := clitest.WriteFile(t, "profiles.yaml", clitest.PaperJobs)
	workloads := clitest.WriteFile(t, "deployment.yaml", clitest.ShopWorkloads)
	classes := clitest.WriteFile(t, "nodes.yaml", "apiVersion: loadline.dev/v1alpha1\nkind: NodeProfile\nmetadata: {name: nvme}\nspec: {selector: {}}\n")
	for name, test := range map[string]struct {
		args      []string
		want      string
		directive string
	}{
		"verbs":                      {[]string{"s"}, "share size status", noFiles},
		"formats":                    {[]string{"size", "-o", ""}, "table wide json yaml jsonpath=", noFiles},
		"solvers":                    {[]string{"predict", "--solver", ""}, "auto exact linearizer schweitzer first-order", noFiles},
		"methods":                    {[]string{"share", "--method", "m"}, "monte-carlo", noFiles},
		"disciplines":                {[]string{"size", "--discipline=p"}, "pdp", noFiles},
		"queues":                     {[]string{"replay", "--queue", ""}, "backfill fifo", noFiles},
		"cgroups":                    {[]string{"share", "--cgroup", ""}, "v1 v2", noFiles},
		"a policy":                   {[]string{"replay", "--policies", "least-"}, "least-requested least-dilation least-completion", noSpace},
		"one more policy":            {[]string{"replay", "--policies", "lmuf,least-dilation,least-"}, "lmuf,least-dilation,least-requested lmuf,least-dilation,least-completion", noSpace},
		"components":                 {[]string{"status", "--without", ""}, "manager scheduler", noSpace},
		"files with manifests":       {[]string{"predict", "-f", ""}, "yaml yml json", byExtension},
		"ways to share":              {[]string{"fit", "--sharing", ""}, "TimeSliced Concurrent", noFiles},
		"files with observations":    {[]string{"fit", "-f", ""}, "csv", byExtension},
		"charts":                     {[]string{"replay", "--plot-saved", ""}, "svg png", byExtension},
		"folders":                    {[]string{"replay", "--jobs-to", ""}, "", onlyFolders},
		"kubeconfigs":                {[]string{"status", "--kubeconfig", ""}, "", anyFiles},
		"nothing":                    {[]string{"version", ""}, "", noFiles},
		"numbers":                    {[]string{"predict", "--cores", ""}, "", noFiles},
		"profiles of files":          {[]string{"predict", "-f", profiles, "--pod", ""}, "filecomp std-io", noFiles},
		"workloads of files":         {[]string{"predict", "-f", profiles + "," + workloads, "--limits", ""}, "deployment/shop/web cronjob/shop/batch filecomp std-io", noFiles},
		"types of jobs of files":     {[]string{"replay", "-f", profiles, "--types", "std"}, "std-io", noFiles},
		"classes of nodes of files":  {[]string{"predict", "-f", profiles + "," + classes, "--node", ""}, "nvme", noFiles},
		"of files that are no files": {[]string{"predict", "-f", "none.yaml", "--node", ""}, "", noFiles},
		"what is explained":          {[]string{"explain", ""}, "pod", noFiles},
		"orders":                     {[]string{"top", "pods", "--sort-by", ""}, "dilation cpu waiting throttled name", noFiles},
		"what gauges observed":       {[]string{"top", "nodes", "--usage", ""}, "json", byExtension},
		"shells":                     {[]string{"completion", ""}, "bash fish kubectl powershell zsh", noFiles},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			choices, directive := completed(t, test.args...)
			if got := strings.Join(choices, " "); got != test.want || directive != test.directive {
				t.Errorf("%v: %q %s, want %q %s", test.args, got, directive, test.want, test.directive)
			}
		})
	}
}

func TestTheShellCompletesNamesThatTheClusterKnows(t *testing.T) {
	t.Parallel()
	kubeconfig := clitest.NewServer(t, clitest.EtlCluster()...).Kubeconfig(t)
	for name, test := range map[string]struct {
		args []string
		want string
	}{
		"contexts":               {[]string{"--context", ""}, "here there"},
		"clusters":               {[]string{"--cluster", ""}, "local remote"},
		"users":                  {[]string{"--user", ""}, "me"},
		"namespaces":             {[]string{"-n", ""}, "worker-1 worker-2"},
		"pods of the context":    {[]string{"pod", "sort"}, "sort-0 sort-1 sort-2"},
		"pods of a namespace":    {[]string{"-n", "shop", "pod", ""}, "other"},
		"after the pod":          {[]string{"pod", "sort-0", ""}, ""},
		"of a cluster that away": {[]string{"--context", "there", "pod", ""}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			choices, directive := completed(t, append([]string{"explain", "--kubeconfig", kubeconfig}, test.args...)...)
			if got := strings.Join(choices, " "); got != test.want || directive != noFiles {
				t.Errorf("%q %s, want %q", got, directive, test.want)
			}
		})
	}
	if nodes, _ := completed(t, "share", "--kubeconfig", kubeconfig, "--node", ""); !slices.Equal(nodes, []string{"worker-1", "worker-2"}) {
		t.Errorf("the nodes are %v", nodes)
	}
}

// free are the flags with arbitrary values.
var free = []string{
	"aggregate", "class", "rate", "service", "set", "resources", "scv", "servers", "sharing", "device", "capacity", "selector", "pod-selector",
	"as", "as-uid", "as-group", "as-user-extra", "token", "username", "password", "server", "tls-server-name", "proxy-url", "request-timeout",
	"worker-runs", "worker-result", "match-server-version", "bind-address",
}

func TestEveryFlagThatTakesAWordIsCompletedOrFree(t *testing.T) {
	t.Parallel()
	root := cli.NewRoot("v1.2.3", cli.Streams{})
	cli.Complete(root)
	for _, verb := range withAllBelow(root) {
		verb.Flags().VisitAll(func(f *pflag.Flag) {
			switch f.Value.Type() {
			case "bool", "int", "int32", "int64", "uint64", "float64", "duration":
				return
			}
			if _, known := verb.GetFlagCompletionFunc(f.Name); !known && !slices.Contains(free, f.Name) {
				t.Errorf("%s --%s is neither completed nor known to be free", verb.Name(), f.Name)
			}
		})
	}
}

func TestCompletionScriptsAreThereForEveryShell(t *testing.T) {
	t.Parallel()
	for shell, want := range map[string]string{
		"bash": "__start_kubectl-loadline", "zsh": "#compdef kubectl-loadline", "fish": "complete -c kubectl-loadline", "powershell": "Register-ArgumentCompleter",
		"kubectl": "#!/bin/sh\n",
	} {
		if code, stdout, stderr := clitest.Run(t, "", "completion", shell); code != 0 || !strings.Contains(stdout, want) {
			t.Errorf("%s: exit code %d, errors %q, output %.200q", shell, code, stderr, stdout)
		}
	}
}

// The executable that kubectl runs asks kubectl-loadline, and hands on its arguments unchanged.
func TestTheCompletionForKubectlHandsOnItsArguments(t *testing.T) {
	t.Parallel()
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	_, script, _ := clitest.Run(t, "", "completion", "kubectl")
	for name, content := range map[string]string{
		"kubectl_complete-loadline": script,
		"kubectl-loadline":          "#!" + shell + "\nprintf '<%s>' \"$@\"\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	complete := exec.CommandContext(t.Context(), filepath.Join(dir, "kubectl_complete-loadline"), "explain", "pod", "a b", "")
	complete.Env = []string{"PATH=" + dir + string(os.PathListSeparator) + os.Getenv("PATH")}
	out, err := complete.CombinedOutput()
	if want := "<__complete><explain><pod><a b><>"; err != nil || string(out) != want {
		t.Errorf("%v: %s, want %s", err, out, want)
	}
}
