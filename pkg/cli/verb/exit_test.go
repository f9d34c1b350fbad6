package verb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
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
		"an answer that is no":          {fmt.Errorf("plan.yaml: %w", No(errors.New("too slow"))), 1},
		"an interrupt":                  {Interrupted("nothing"), 130},
		"an interrupt, and a full disk": {errors.Join(on(syscall.ENOSPC), context.Canceled), 130},
	} {
		if got := ExitCode(test.err); got != test.want {
			t.Errorf("%s: exit code %d, want %d", name, got, test.want)
		}
	}
}
