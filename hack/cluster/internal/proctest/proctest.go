// Package proctest lets tests see which processes run, so that they can tell that none was left behind.
package proctest

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// Mentioning returns the processes, but for this one, whose command line contains text: their ids by the names of
// their programs. It skips the test where the operating system does not show them in /proc.
func Mentioning(tb testing.TB, text string) map[string]int {
	tb.Helper()
	if runtime.GOOS != "linux" {
		tb.Skip("processes are seen in Linux's /proc only")
	}
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		tb.Fatal(err)
	}
	found := map[string]int{}
	for _, file := range files {
		line, err := os.ReadFile(file)
		pid, notANumber := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		switch {
		case errors.Is(err, fs.ErrNotExist) || pid == os.Getpid():
			continue
		case notANumber != nil:
			tb.Fatal(notANumber)
		case bytes.Contains(line, []byte(text)):
			program, _, _ := bytes.Cut(line, []byte{0})
			found[filepath.Base(string(program))] = pid
		}
	}
	return found
}

// AwaitNone returns when no process mentions text, and fails the test when some still do after ten seconds: the
// kernel takes a moment to end the children of a process that was killed.
func AwaitNone(tb testing.TB, text string) {
	tb.Helper()
	err := wait.PollUntilContextTimeout(tb.Context(), 20*time.Millisecond, 10*time.Second, true, func(context.Context) (bool, error) {
		return len(Mentioning(tb, text)) == 0, nil
	})
	if err != nil {
		tb.Fatalf("still running: %v", Mentioning(tb, text))
	}
}
