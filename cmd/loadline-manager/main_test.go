package main

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// run runs the command and returns what it writes.
func run(command *cobra.Command, args ...string) (string, error) {
	var written bytes.Buffer
	command.SetOut(&written)
	command.SetErr(&written)
	command.SetArgs(args)
	err := command.Execute()
	return written.String(), err
}

// The tests of this package do not run in parallel: commands share flags such
// as --version, which making one writes to.

func TestGarbageIsCollectedSoonerUnlessTheEnvironmentSaysWhen(t *testing.T) {
	const other = 77
	defer debug.SetGCPercent(debug.SetGCPercent(other))
	t.Setenv("GOGC", strconv.Itoa(other)) // which the runtime read when the test began
	spareMemory()
	if now := debug.SetGCPercent(other); now != other {
		t.Errorf("%d %%, which the environment does not say", now)
	}
	if err := os.Unsetenv("GOGC"); err != nil {
		t.Fatal(err)
	}
	spareMemory()
	if now := debug.SetGCPercent(other); now != garbagePercent {
		t.Errorf("%d %%, want %d", now, garbagePercent)
	}
}

func TestHelpTellsWhatTheManagerIsForAndHowToRunIt(t *testing.T) {
	help, err := run(newCommand(), "--help")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"Loadline's operator", "WorkloadProfile", "NodeProfile", "TraceReplay", "Examples:", "loadline-manager --leader-elect",
		"--kubeconfig", "--leader-election-namespace", "--metrics-bind-address", "--metrics-secure", "--health-probe-bind-address", "--logging-format", "--version",
		"--replay-image", "--replay-cpu", "--replay-memory", "--probe-image", "--probe-memory", "--probe-namespace", "--max-measurements", "--max-measurement-time",
		"--max-replays", "--max-replay-parallelism", "--replay-timeout", "--pprof-bind-address",
		"--any-user", "--concurrent-status-writes", "--remediation",
	} {
		if !strings.Contains(help, want) {
			t.Errorf("the help lacks %q:\n%s", want, help)
		}
	}
}

func TestEveryExampleIsACommandThatTheManagerTakes(t *testing.T) {
	command := newCommand()
	examples := 0
	for line := range strings.Lines(command.Example) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		words := strings.Fields(line)
		if words[0] != command.Name() {
			t.Errorf("the example %q does not run %s", line, command.Name())
		}
		if err := newCommand().ParseFlags(words[1:]); err != nil {
			t.Errorf("the example %q: %v", line, err)
		}
		examples++
	}
	if examples < 2 {
		t.Errorf("%d examples, want at least 2", examples)
	}
}

func TestEveryFlagSaysInASentenceWhatItDoes(t *testing.T) {
	ours := []string{
		"kubeconfig", "leader-elect", "leader-election-namespace", "metrics-bind-address", "metrics-secure", "health-probe-bind-address",
		"replay-image", "replay-cpu", "replay-memory", "probe-image", "probe-memory", "probe-namespace", "max-measurements", "max-measurement-time",
		"max-replays", "max-replay-parallelism", "replay-timeout",
		"any-user", "concurrent-status-writes", "remediation",
	}
	flags := newCommand().Flags()
	for _, name := range ours {
		f := flags.Lookup(name)
		if f == nil {
			t.Errorf("no flag --%s", name)
			continue
		}
		if !strings.HasSuffix(f.Usage, ".") || strings.ToUpper(f.Usage[:1]) != f.Usage[:1] {
			t.Errorf("--%s: %q is no sentence", name, f.Usage)
		}
	}
	flags.VisitAll(func(f *pflag.Flag) {
		if len(f.Usage) < 20 {
			t.Errorf("--%s: %q says too little", f.Name, f.Usage)
		}
	})
}

func TestWrongUseIsAnErrorThatNamesTheMistake(t *testing.T) {
	tests := map[string]struct {
		args []string
		want string
	}{
		"an unknown flag":                    {[]string{"--leader-elekt"}, "unknown flag: --leader-elekt"},
		"a value of the wrong type":          {[]string{"--leader-elect=often"}, `invalid argument "often" for "--leader-elect" flag`},
		"memory that is none":                {[]string{"--replay-memory=much"}, `invalid argument "much" for "--replay-memory" flag: "much" is not a quantity above 0 such as 500m or 2Gi`},
		"no CPU":                             {[]string{"--replay-cpu=0"}, `"0" is not a quantity above 0 such as 500m or 2Gi`},
		"no measurement at once":             {[]string{"--max-measurements=0"}, "--max-measurements: 0 is not at least 1"},
		"a measurement in no time":           {[]string{"--max-measurement-time=-1s"}, "--max-measurement-time: -1s is negative; 0 is no limit"},
		"no replay at once":                  {[]string{"--max-replays=0"}, "--max-replays: 0 is not at least 1"},
		"no run at once":                     {[]string{"--max-replay-parallelism=0"}, "--max-replay-parallelism: 0 is not from 1 to 1000"},
		"a replay in no time":                {[]string{"--replay-timeout=500ms"}, "--replay-timeout: 500ms is not at least 1s"},
		"no status written at once":          {[]string{"--concurrent-status-writes=0"}, "--concurrent-status-writes: 0 is not from 1 to 200"},
		"more statuses than the server lets": {[]string{"--concurrent-status-writes=201"}, "--concurrent-status-writes: 201 is not from 1 to 200"},
		"no scheduler":                       {[]string{"--scheduler-names="}, "--scheduler-names: say at least one"},
		"a scheduler without a name":         {[]string{"--scheduler-names=loadline,"}, `--scheduler-names: "": a lowercase RFC 1123 subdomain`},
		"a scheduler twice":                  {[]string{"--scheduler-names=loadline,loadline"}, `--scheduler-names: ["loadline" "loadline"] has a name twice`},
		"an argument":                        {[]string{"start"}, `unknown command "start" for "loadline-manager"`},
		"a log format that does not exist":   {[]string{"--logging-format=xml"}, `format: Invalid value: "xml": Unsupported log format`},
		"a flag of another program's syntax": {[]string{"-leader-elect"}, "unknown shorthand flag: 'l'"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			written, err := run(newCommand(), test.args...)
			if err == nil {
				t.Fatalf("accepted, with %q", written)
			}
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error %q lacks %q", err, test.want)
			}
		})
	}
}

func TestAKubeconfigFileThatCannotBeReadIsNamed(t *testing.T) {
	missing, broken := filepath.Join(t.TempDir(), "missing"), filepath.Join(t.TempDir(), "broken")
	if err := os.WriteFile(broken, []byte("contexts: 7"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{missing, broken} {
		o := options{kubeconfig: path}
		if _, err := o.restConfig(); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("the error %v does not name %s", err, path)
		}
	}
}

func TestAKubeconfigFileSaysWhereTheClusterIs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kubeconfig")
	const kubeconfig = `{"current-context": "here", "contexts": [{"name": "here", "context": {"cluster": "here"}}],
		"clusters": [{"name": "here", "cluster": {"server": "https://127.0.0.1:6443"}}]}`
	if err := os.WriteFile(path, []byte(kubeconfig), 0o600); err != nil {
		t.Fatal(err)
	}
	o := options{kubeconfig: path}
	config, err := o.restConfig()
	if err != nil {
		t.Fatal(err)
	}
	if config.Host != "https://127.0.0.1:6443" || config.QPS >= 0 {
		t.Errorf("host %s at %v requests per second, want https://127.0.0.1:6443 without a limit", config.Host, config.QPS)
	}
}

func TestAnImageIsThatOfTheFlagThenOfTheEnvironment(t *testing.T) {
	for _, test := range []struct{ flag, variable, otherwise string }{
		{"replay-image", "LOADLINE_REPLAY_IMAGE", "loadline/kubectl-loadline"},
		{"probe-image", "LOADLINE_PROBE_IMAGE", "loadline/loadline-probe"},
	} {
		image := func() string { return newCommand().Flags().Lookup(test.flag).DefValue }
		if got := image(); got != test.otherwise {
			t.Errorf("--%s without any setting is %s", test.flag, got)
		}
		t.Setenv(test.variable, "example.test/loadline:v1")
		if got := image(); got != "example.test/loadline:v1" {
			t.Errorf("--%s with the variable set is %s", test.flag, got)
		}
	}
}

func TestAPrometheusThatHasNoURLIsRefused(t *testing.T) {
	const want = `--work-prometheus: "prometheus:9090" is not a URL such as http://prometheus.monitoring:9090`
	if _, err := run(newCommand(), "--work-prometheus", "prometheus:9090"); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestAModeOfObservedProfilesThatIsNoneIsRefused(t *testing.T) {
	const want = `--observed-profiles: "on" is not one of off, advise and apply`
	if _, err := run(newCommand(), "--observed-profiles", "on"); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
