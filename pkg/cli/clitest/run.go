// Package clitest holds the shared parts of the tests of the verbs of kubectl loadline: a command line to run, an API server to
// ask, and a few clusters and inputs.
package clitest

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"loadline.dev/loadline/pkg/cli"
)

// offline keeps tests from asking the cluster of the user who runs them.
var offline = sync.OnceValue(func() error { return os.Setenv("KUBECONFIG", os.DevNull) })

// Run runs a command line with some standard input, and no cluster unless the arguments lead to one.
func Run(t *testing.T, stdin string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	if err := offline(); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	code = cli.Run(t.Context(), "v1.2.3", args, cli.Streams{In: strings.NewReader(stdin), Out: &out, Err: &errs})
	return code, out.String(), errs.String()
}

// WriteFile puts a file into the test's folder and returns its path.
func WriteFile(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// RunInterrupted runs a command line that is interrupted while it waits for
// its input.
func RunInterrupted(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	silent, writer := io.Pipe()
	defer writer.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, errs bytes.Buffer
	code = cli.Run(ctx, "v1", args, cli.Streams{In: silent, Out: &out, Err: &errs})
	return code, out.String(), errs.String()
}

// FullDisk opens the device of Linux that is always full.
func FullDisk(t *testing.T) *os.File {
	t.Helper()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { full.Close() })
	return full
}

// JSON returns the value as JSON.
func JSON(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Squeezed writes runs of spaces as one.
func Squeezed(text string) string {
	Lines := strings.Split(text, "\n")
	for i, line := range Lines {
		Lines[i] = strings.Join(strings.Fields(line), " ")
	}
	return strings.Join(Lines, "\n")
}
