package cli

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Linux has a device that is always full.
func fullDisk(t *testing.T) *os.File {
	t.Helper()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { full.Close() })
	return full
}

func TestAFullDiskExitsWith3(t *testing.T) {
	t.Parallel()
	fullDisk(t)
	dir := t.TempDir()
	for _, name := range []string{"lmuf-1.partial.csv", "lmuf-1.epochs.partial.csv"} {
		if err := os.Symlink("/dev/full", filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"--jobs-to", dir}, {"--epochs-to", dir}} {
		code, _, stderr := invoke(t, threeJobs, append([]string{"replay", "--trace", "-", "--policies", "lmuf"}, args...)...)
		if code != 3 || !strings.Contains(stderr, "no space left on device") {
			t.Errorf("%v: exit code %d, errors %q", args, code, stderr)
		}
	}
	var errs bytes.Buffer
	code := Run(t.Context(), "v1", []string{"replay", "--trace", "-"}, Streams{In: strings.NewReader(threeJobs), Out: fullDisk(t), Err: &errs})
	if code != 3 || !strings.Contains(errs.String(), "no space left on device") {
		t.Errorf("exit code %d, errors %q", code, errs.String())
	}
}

func TestVerbsThatOnlyComputeAreInterruptedToo(t *testing.T) {
	t.Parallel()
	for _, verb := range []string{"predict", "fit"} {
		if code, _, stderr := interruptedWhileWaiting(t, verb, "-f", "-"); code != 130 {
			t.Errorf("%s: exit code %d, errors %q", verb, code, stderr)
		}
	}
}

// interruptedWhileWaiting runs a command line that is interrupted while it waits for
// its input.
func interruptedWhileWaiting(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	silent, writer := io.Pipe()
	defer writer.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, errs bytes.Buffer
	code = Run(ctx, "v1", args, Streams{In: silent, Out: &out, Err: &errs})
	return code, out.String(), errs.String()
}
