package recording_test

import (
	"path/filepath"
	"strings"
	"testing"

	"loadline.dev/loadline/pkg/cli/clitest"
)

func TestRecordRefusesWrongUse(t *testing.T) {
	t.Parallel()
	empty := clitest.WriteFile(t, "kubeconfig", "")
	for name, test := range map[string]struct {
		args []string
		want string
	}{
		"no file":                {[]string{}, "name a file for the trace, --to trace.csv, or --to - for standard output"},
		"a bad selector":         {[]string{"--to", "x", "-l", "a in b"}, "--selector: "},
		"watching to a pipe":     {[]string{"--to", "-", "--watch"}, "--watch keeps what it records in a file until it ends: name one, --to trace.csv"},
		"a time without a watch": {[]string{"--to", "x", "--for", "1h"}, "--for says how long to watch: give --watch, too"},
		"a negative time":        {[]string{"--to", "x", "--watch", "--for", "-1h"}, "--for: -1h0m0s is negative"},
		"a time to come":         {[]string{"--to", "x", "--since", "-1h"}, "--since: -1h0m0s is negative: give how long ago, such as 24h"},
		"no kubeconfig":          {[]string{"--to", "x", "--kubeconfig", empty}, "there is no kubeconfig, so no cluster to ask: name one, --kubeconfig FILE, or set KUBECONFIG"},
		"a kubeconfig that is not there": {
			[]string{"--to", "x", "--kubeconfig", filepath.Join(filepath.Dir(empty), "none")}, "none: no such file or directory",
		},
		"an unknown context": {[]string{"--to", "x", "--kubeconfig", empty, "--context", "moon"}, `context "moon" does not exist`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, stdout, stderr := clitest.Run(t, "", append([]string{"record"}, test.args...)...)
			if code != 2 || stdout != "" || !strings.HasPrefix(stderr, "Error: ") || !strings.Contains(stderr, test.want) {
				t.Errorf("exit code %d, output %q, errors %q, want %q", code, stdout, stderr, test.want)
			}
		})
	}
}
