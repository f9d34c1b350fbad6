package who_test

import (
	"strings"
	"testing"

	"loadline.dev/loadline/pkg/cli/clitest"
)

// The status of a profile in a file says the same as in a cluster.
func TestWhoSaysHowMuchLongerAUnitOfWorkTakes(t *testing.T) {
	t.Parallel()
	const folder = "../../../docs/examples/who/"
	args := []string{"who", "-n", "web", "-f", folder + "cluster.yaml", "-f", folder + "work.yaml", "--usage", folder + "usage.json"}
	for output, wants := range map[string][]string{
		"table": {"PER UNIT", "2.61× per request", "web/api-5d8b6-q7w2z: requests take 2.61 times as long: 2.12 times by waiting, 1.23 times by slower service beside StatefulSet ml/train."},
		"json":  {`"perUnit": {`, `"unit": "request"`, `"inflation": 1.23`, `"StatefulSet ml/train"`},
	} {
		code, stdout, stderr := clitest.Run(t, "", append(args, "-o", output)...)
		if code != 0 {
			t.Fatalf("exit code %d: %s", code, stderr)
		}
		for _, want := range wants {
			if !strings.Contains(stdout, want) {
				t.Errorf("-o %s has no %q:\n%s", output, want, stdout)
			}
		}
	}
}
