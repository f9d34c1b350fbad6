// Command kubectl-loadline is what people type: kubectl loadline VERB, or the
// command by its own name. Called kubectl_complete-loadline, it tells kubectl how to
// complete what they type.
package main

import (
	"context"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"loadline.dev/loadline/pkg/cli"
)

var version = "unknown" // set by the linker

func main() {
	log.SetLogger(logr.Discard()) // of clients, which would complain of having none: what matters is in their errors
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the command at once
	streams := cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}
	os.Exit(cli.Run(ctx, version, arguments(os.Args), streams))
}

// completer is the name by which kubectl calls what completes the plugin's arguments.
const completer = "kubectl_complete-loadline"

// arguments returns the arguments of a command line, those of a completer as the
// request to complete them.
func arguments(line []string) []string {
	if strings.TrimSuffix(filepath.Base(line[0]), ".exe") == completer {
		return slices.Concat([]string{cobra.ShellCompRequestCmd}, line[1:])
	}
	return line[1:]
}
