package ui

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"loadline.dev/loadline/pkg/cli"
)

// chrome is the browser of all tests.
var chrome *browser

func TestMain(m *testing.M) {
	flag.Parse()
	started, stop, err := start()
	if errors.Is(err, errNoBrowser) && os.Getenv("CI") == "" {
		fmt.Println("left out:", err)
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	chrome = started
	code := m.Run()
	stop()
	os.Exit(code)
}

// example are the files of a cluster that the documentation shows.
func example() []string {
	folder := filepath.Join("..", "..", "docs", "examples", "who")
	return []string{"-f", filepath.Join(folder, "cluster.yaml"), "--usage", filepath.Join(folder, "usage.json")}
}

// served is the output of a command that serves a page: it says where once that is printed.
type served struct {
	mutex   sync.Mutex
	written bytes.Buffer
	address chan string
}

func (s *served) Write(p []byte) (int, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.written.Write(p)
	if _, rest, found := strings.Cut(s.written.String(), "Open "); found && s.address != nil {
		if address, _, whole := strings.Cut(rest, "\n"); whole {
			s.address <- address
			s.address = nil
		}
	}
	return len(p), nil
}

// serve runs kubectl loadline ui until the test ends, and returns the address that it prints.
func serve(t *testing.T, args ...string) string {
	t.Helper()
	address, _ := serveUntil(t, args...)
	return address
}

// serveUntil is serve for a test that ends it.
func serveUntil(t *testing.T, args ...string) (address string, end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	printed, ended := make(chan string, 1), make(chan int, 1)
	var errs bytes.Buffer
	go func() {
		ended <- cli.Run(ctx, "v1.2.3", append([]string{"ui"}, args...), cli.Streams{In: strings.NewReader(""), Out: &served{address: printed}, Err: &errs})
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
