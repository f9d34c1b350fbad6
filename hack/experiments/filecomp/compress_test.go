package main

import (
	"bytes"
	"compress/flate"
	"context"
	"net"
	"runtime"
	"sync"
	"testing"

	"loadline.dev/loadline/pkg/probe"
	"loadline.dev/loadline/pkg/probe/result"
)

func TestCompressedFilesAreSentToASink(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("measuring needs Linux")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var listening sync.WaitGroup
	listening.Go(func() { _ = probe.Sink(ctx, listener, 0) })
	const files = 3
	l, err := compressFiles(t.Context(), options{files: files, seed: 7, peer: listener.Addr().String()})
	stop()
	listening.Wait()
	if err != nil {
		t.Fatal(err)
	}
	const perFile = 2 // blocks, the second one filled up
	if n := len(l.Demands); n != 2 || l.Demands[1].Job != result.Network || l.Demands[1].Nanos == 0 || l.Demands[1].Units != perFile*files {
		t.Errorf("it accounts for %+v", l.Demands)
	}
	sum := int64(0)
	for _, d := range l.Demands {
		sum += d.Nanos
	}
	if l.Rounds != files || sum != l.End-l.Begin {
		t.Errorf("it accounts for %d files and %d of %d ns", l.Rounds, sum, l.End-l.Begin)
	}
}

func TestFilesAreWorthCompressing(t *testing.T) {
	t.Parallel()
	for i, file := range makeInputs(7) {
		var packed bytes.Buffer
		w, err := flate.NewWriter(&packed, flate.BestSpeed)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(file); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if len(file) != fileSize || packed.Len() > fileSize*9/10 {
			t.Errorf("file %d has %d bytes, and %d compressed", i, len(file), packed.Len())
		}
	}
}
