package main

import (
	"bytes"
	"compress/flate"
	"errors"
	"io"
	"os"
	"runtime"
	"syscall"
	"testing"
)

func TestCompressedFilesHoldWhatWasCompressed(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("reading past the page cache needs Linux")
	}
	o := options{files: 2 * inputs, seed: 7, dir: t.TempDir()}
	l, err := compressFiles(t.Context(), o)
	if errors.Is(err, syscall.EINVAL) {
		t.Skip("the folder for temporary files is in memory")
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range []int{0, inputs - 1} {
		want, err := os.ReadFile(inputPath(o.dir, i))
		if err != nil {
			t.Fatal(err)
		}
		packed, err := os.ReadFile(outputPath(o.dir, i))
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(flate.NewReader(bytes.NewReader(packed)))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("file %d came back as %d other bytes, %v", i, len(got), err)
		}
		if len(packed) > len(want)*9/10 {
			t.Errorf("file %d has %d bytes of %d: it was not worth compressing", i, len(packed), len(want))
		}
	}
	sum := int64(0)
	for _, d := range l.Demands {
		sum += d.Nanos
	}
	if l.Rounds != o.files || sum != l.End-l.Begin {
		t.Errorf("it accounts for %d files and %d of %d ns", l.Rounds, sum, l.End-l.Begin)
	}
}
