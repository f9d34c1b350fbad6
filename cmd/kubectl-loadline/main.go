// Command kubectl-loadline is what people type: kubectl loadline VERB, or the
// command by its own name.
package main

import (
	"context"
	"os"

	"loadline.dev/loadline/pkg/cli"
)

var version = "unknown" // set by the linker

// No signal is caught: the verbs compute and then write, files at one stroke, so
// that Ctrl-C may end them anywhere.
func main() {
	streams := cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}
	os.Exit(cli.Run(context.Background(), version, os.Args[1:], streams))
}
