package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"loadline.dev/loadline/pkg/trace"
)

func TestTheExitCodeSaysWhoCanPutItRight(t *testing.T) {
	t.Parallel()
	on := func(err error) error { return &os.PathError{Op: "write", Path: "jobs.csv", Err: err} }
	for name, test := range map[string]struct {
		err  error
		want int
	}{
		"nothing":                       {nil, 0},
		"wrong use":                     {errors.New("name a file"), 2},
		"a file that is not there":      {on(syscall.ENOENT), 2},
		"a file that one may not read":  {on(syscall.EACCES), 2},
		"a folder":                      {on(syscall.EISDIR), 2},
		"a full disk":                   {fmt.Errorf("writing: %w", on(syscall.ENOSPC)), 3},
		"a damaged disk":                {on(syscall.EIO), 3},
		"a trace that is wrong":         {&trace.Error{File: "jobs.csv", Line: 3, Rule: "is wrong"}, 2},
		"a trace that is cut short":     {&trace.Error{File: "jobs.csv", Err: io.ErrUnexpectedEOF}, 2},
		"a trace that cannot be read":   {&trace.Error{File: "jobs.csv", Err: on(syscall.EIO)}, 3},
		"a request that took too long":  {fmt.Errorf("listing pods: %w", &url.Error{Op: "Get", Err: context.DeadlineExceeded}), 3},
		"an API server that is busy":    {fmt.Errorf("listing pods: %w", apierrors.NewServiceUnavailable("later")), 3},
		"what one may not see":          {fmt.Errorf("listing pods: %w", apierrors.NewForbidden(schema.GroupResource{}, "", nil)), 2},
		"an answer that is no":          {fmt.Errorf("plan.yaml: %w", &no{errors.New("too slow")}), 1},
		"an interrupt":                  {&interrupted{kept: "nothing"}, 130},
		"an interrupt, and a full disk": {errors.Join(on(syscall.ENOSPC), context.Canceled), 130},
	} {
		if got := exitCode(test.err); got != test.want {
			t.Errorf("%s: exit code %d, want %d", name, got, test.want)
		}
	}
}

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
