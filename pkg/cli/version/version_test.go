package version_test

import (
	"encoding/json"
	"strings"
	"testing"

	"loadline.dev/loadline/pkg/cli/clitest"
	"loadline.dev/loadline/pkg/cli/version"
)

func TestVersionTellsWhatRunsInTheCluster(t *testing.T) {
	t.Parallel()
	server := clitest.NewServer(t, clitest.Installed()...)
	code, stdout, stderr := server.Ask(t, "version")
	const want = `manager 0.2.0 (loadline-system/loadline-manager: registry.test:5000/loadline/loadline-manager:0.2.0)
scheduler 0.2.0 (loadline-system/loadline-scheduler: registry.test:5000/loadline/loadline-scheduler:0.2.0)
Kubernetes v1.36.3
`
	if code != 0 || stderr != "" || !strings.HasPrefix(stdout, "kubectl loadline v1.2.3 (go") || !strings.HasSuffix(stdout, want) {
		t.Errorf("exit code %d, errors %q, output\n%s", code, stderr, stdout)
	}
	_, stdout, _ = server.Ask(t, "version", "-o", "json")
	var answer version.Answer
	if err := json.Unmarshal([]byte(stdout), &answer); err != nil {
		t.Fatal(err)
	}
	if c := answer.Cluster; answer.Version != "v1.2.3" || c.Kubernetes != "v1.36.3" || len(c.Components) != 2 || c.Components[0].Version != "0.2.0" {
		t.Errorf("the answer is %+v", answer)
	}
}

func TestVersionIsNoErrorWhereTheClusterDoesNotTell(t *testing.T) {
	t.Parallel()
	server := clitest.NewServer(t)
	for name, test := range map[string]struct {
		args           []string
		stdout, stderr string
	}{
		"nothing is installed": {nil, "no manager or scheduler in the cluster\nKubernetes v1.36.3\n", ""},
		"nobody answers": {
			[]string{"--context", "there"}, ")\n", "Warning: the versions in the cluster are not known: ",
		},
		"nobody is asked": {[]string{"--client", "--context", "there"}, ")\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, stdout, stderr := server.Ask(t, append([]string{"version"}, test.args...)...)
			if code != 0 || !strings.HasPrefix(stdout, "kubectl loadline v1.2.3 (go") || !strings.HasSuffix(stdout, test.stdout) {
				t.Errorf("exit code %d, output %q", code, stdout)
			}
			if (stderr == "") != (test.stderr == "") || !strings.HasPrefix(stderr, test.stderr) {
				t.Errorf("errors %q, want %q", stderr, test.stderr)
			}
		})
	}
	t.Run("what runs there may not be seen", func(t *testing.T) {
		t.Parallel()
		server := clitest.NewServer(t, clitest.Installed()...).Refuse("/apis/apps/v1/*")
		code, stdout, stderr := server.Ask(t, "version")
		if code != 0 || !strings.HasSuffix(stdout, "Kubernetes v1.36.3\n") || !strings.Contains(stderr, "listing Deployments: ") {
			t.Errorf("exit code %d, output %q, errors %q", code, stdout, stderr)
		}
	})
	t.Run("the flags name no cluster", func(t *testing.T) {
		t.Parallel()
		code, stdout, stderr := server.Ask(t, "version", "--context", "moon")
		if code != 2 || stdout != "" || !strings.Contains(stderr, `context "moon" does not exist`) {
			t.Errorf("exit code %d, output %q, errors %q", code, stdout, stderr)
		}
	})
}

func TestWhoMayLookNowhereElseIsToldOfTheNamespaceWhereLoadlineRuns(t *testing.T) {
	t.Parallel()
	server := clitest.NewServer(t, clitest.Installed()...).Refuse("/apis/apps/v1/deployments")
	code, stdout, stderr := server.Ask(t, "version")
	if code != 0 || stderr != "" || !strings.Contains(stdout, "manager 0.2.0 (loadline-system/") {
		t.Errorf("exit code %d, errors %q, output\n%s", code, stderr, stdout)
	}
}
