// Command kubectl-loadline is what people type: kubectl loadline VERB, or the
// command by its own name.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"loadline.dev/loadline/pkg/cli"
)

var version = "unknown" // set by the linker

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the command at once
	streams := cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}
	os.Exit(cli.Run(ctx, version, os.Args[1:], streams))
}
