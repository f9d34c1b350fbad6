package clitest

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"testing"

	"loadline.dev/loadline/pkg/cli"
)

// Serve runs kubectl loadline ui until the test ends, or end is called, and returns the address that it prints. It must end with the exit
// code 0 then.
func Serve(t *testing.T, args ...string) (address string, end func()) {
	t.Helper()
	if err := offline(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	printed, ended := make(chan string, 1), make(chan int, 1)
	var errs bytes.Buffer
	go func() {
		ended <- cli.Run(ctx, "v1.2.3", append([]string{"ui"}, args...), cli.Streams{In: strings.NewReader(""), Out: &addressed{printed: printed}, Err: &errs})
	}()
	end = sync.OnceFunc(func() {
		cancel()
		if code := <-ended; code != 0 {
			t.Errorf("exit code %d: %s", code, errs.String())
		}
	})
	select {
	case address = <-printed:
		t.Cleanup(end)
		return address, end
	case code := <-ended:
		cancel()
		t.Fatalf("exit code %d: %s", code, errs.String())
		return "", nil
	}
}

// addressed is the output of a command that serves a page: it says where, once that is printed.
type addressed struct {
	written bytes.Buffer
	printed chan string
}

func (a *addressed) Write(p []byte) (int, error) {
	a.written.Write(p)
	if _, rest, found := strings.Cut(a.written.String(), "Open "); found && a.printed != nil {
		if address, _, whole := strings.Cut(rest, "\n"); whole {
			a.printed <- address
			a.printed = nil
		}
	}
	return len(p), nil
}
