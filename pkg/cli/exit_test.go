package cli_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"loadline.dev/loadline/pkg/cli"
	"loadline.dev/loadline/pkg/cli/clitest"
)

func TestAFullDiskExitsWith3(t *testing.T) {
	t.Parallel()
	clitest.FullDisk(t)
	dir := t.TempDir()
	for _, name := range []string{"lmuf-1.partial.csv", "lmuf-1.epochs.partial.csv"} {
		if err := os.Symlink("/dev/full", filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"--jobs-to", dir}, {"--epochs-to", dir}} {
		code, _, stderr := clitest.Run(t, clitest.ThreeJobs, append([]string{"replay", "--trace", "-", "--policies", "lmuf"}, args...)...)
		if code != 3 || !strings.Contains(stderr, "no space left on device") {
			t.Errorf("%v: exit code %d, errors %q", args, code, stderr)
		}
	}
	var errs bytes.Buffer
	code := cli.Run(t.Context(), "v1", []string{"replay", "--trace", "-"}, cli.Streams{In: strings.NewReader(clitest.ThreeJobs), Out: clitest.FullDisk(t), Err: &errs})
	if code != 3 || !strings.Contains(errs.String(), "no space left on device") {
		t.Errorf("exit code %d, errors %q", code, errs.String())
	}
}

func TestVerbsThatOnlyComputeAreInterruptedToo(t *testing.T) {
	t.Parallel()
	for _, verb := range []string{"predict", "fit"} {
		if code, _, stderr := clitest.RunInterrupted(t, verb, "-f", "-"); code != 130 {
			t.Errorf("%s: exit code %d, errors %q", verb, code, stderr)
		}
	}
}
