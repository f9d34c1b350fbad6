package cli_test

import (
	"strings"
	"testing"

	"loadline.dev/loadline/pkg/cli"
	"loadline.dev/loadline/pkg/cli/clitest"
)

func TestWrongUseExitsWith2AndSaysWhatToDo(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		args []string
		want string
	}{
		"an unknown verb":    {[]string{"fitt"}, "unknown command \"fitt\" for \"kubectl loadline\"; did you mean fit?\nSee 'kubectl loadline --help' for usage and examples"},
		"an unknown flag":    {[]string{"fit", "--fiel", "x"}, "unknown flag: --fiel\nSee 'kubectl loadline fit --help' for usage and examples"},
		"an unknown format":  {[]string{"version", "-o", "xml"}, `"xml" is not one of table, json, yaml`},
		"a manifest":         {[]string{"predict", "web.yaml"}, `"web.yaml" is a file: give it by -f, as in kubectl loadline predict -f web.yaml`},
		"a folder":           {[]string{"check", "../cli"}, `"../cli" is a file: give it by -f, as in kubectl loadline check -f ../cli`},
		"a trace":            {[]string{"replay", "jobs.swf.gz"}, `"jobs.swf.gz" is a file: give it by --trace, as in kubectl loadline replay --trace jobs.swf.gz`},
		"a manifest of jobs": {[]string{"replay", "jobs.yaml"}, `"jobs.yaml" is a file: give it by -f, as in kubectl loadline replay -f jobs.yaml`},
		"an argument":        {[]string{"version", "now"}, `unknown command "now" for "kubectl loadline version"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, stdout, stderr := clitest.Run(t, "", test.args...)
			if code != 2 || stdout != "" || !strings.HasPrefix(stderr, "Error: ") || !strings.Contains(stderr, test.want) {
				t.Errorf("exit code %d, output %q, errors %q, want %q", code, stdout, stderr, test.want)
			}
		})
	}
}

func TestEveryVerbHasExamplesThatStartWithTheCommand(t *testing.T) {
	t.Parallel()
	root := cli.NewRoot("v1.2.3", cli.Streams{})
	for _, command := range root.Commands() {
		if command.Name() == "help" {
			continue
		}
		if !strings.Contains(command.Example, "  kubectl loadline "+command.Name()) {
			t.Errorf("%s has no example of itself", command.Name())
		}
	}
}

func TestVersionPrintsInEveryFormat(t *testing.T) {
	t.Parallel()
	for format, want := range map[string]string{"table": "kubectl loadline v1.2.3 (go", "json": `"version": "v1.2.3"`, "yaml": "version: v1.2.3"} {
		if code, stdout, _ := clitest.Run(t, "", "version", "-o", format); code != 0 || !strings.Contains(stdout, want) {
			t.Errorf("%s: exit code %d, output %q, want %q", format, code, stdout, want)
		}
	}
}
