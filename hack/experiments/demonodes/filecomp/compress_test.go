package main

import (
	"bytes"
	"compress/flate"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"runtime"
	"sync"
	"syscall"
	"testing"

	"loadline.dev/loadline/pkg/probe"
	"loadline.dev/loadline/pkg/probe/result"
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
	checkAccount(t, l, o)
}

// checkAccount reports whether a job was somewhere all the time.
func checkAccount(t *testing.T, l result.Load, o options) {
	t.Helper()
	sum := int64(0)
	for _, d := range l.Demands {
		sum += d.Nanos
	}
	if l.Rounds != o.files || sum != l.End-l.Begin {
		t.Errorf("it accounts for %d files and %d of %d ns", l.Rounds, sum, l.End-l.Begin)
	}
}

func TestCompressedFilesAreSentToASink(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var listening sync.WaitGroup
	listening.Go(func() { _ = probe.Sink(ctx, listener, 0) })
	o := options{files: 3, seed: 7, dir: t.TempDir(), peer: listener.Addr().String()}
	l, err := compressFiles(t.Context(), o)
	stop()
	listening.Wait()
	if err != nil {
		t.Fatal(err)
	}
	const perFile = 2 // blocks, the second one filled up
	if n := len(l.Demands); n != 2 || l.Demands[1].Job != result.Network || l.Demands[1].Nanos == 0 || l.Demands[1].Units != uint64(perFile*o.files) {
		t.Errorf("it accounts for %+v", l.Demands)
	}
	checkAccount(t, l, o)
}
