// Command filecomp is the example job of the D-factor paper: it compresses files of 256 KiB, one after the other, and sends
// what it compresses over the network. When it is done it says how long it was where, as loadline-probe load does.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"loadline.dev/loadline/pkg/probe/result"
)

// terminationLog is where Kubernetes looks for what a container has to say in the end.
const terminationLog = "/dev/termination-log"

func main() {
	o := options{}
	flag.IntVar(&o.files, "files", 2560, "how many files to compress")
	flag.Uint64Var(&o.seed, "seed", 1, "seed of what is in them")
	flag.StringVar(&o.peer, "peer", "", "address of a sink of loadline-probe to send what is compressed to")
	to := flag.String("result", terminationLog, "file for the report")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o, *to); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1) //nolint:gocritic // the context ends with the process
	}
}

func run(ctx context.Context, o options, to string) error {
	if o.files < 1 {
		return fmt.Errorf("--files: %d is not at least 1", o.files)
	}
	did, err := compressFiles(ctx, o)
	if err != nil {
		return err
	}
	encoded, err := result.Encode(did)
	if err != nil {
		return err
	}
	return os.WriteFile(to, append(encoded, '\n'), 0o644)
}
