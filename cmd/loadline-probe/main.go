// Command loadline-probe measures a node from within: it runs the standard jobs, finds how
// many requests a resource serves at once, observes the other containers of its pod, and
// stands for workloads of known loading vectors. It is what Loadline's measurements run in
// pods.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/spf13/cobra"

	"loadline.dev/loadline/pkg/probe/result"
)

var version = "unknown" // set by the linker

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the command at once
	os.Exit(execute(ctx, newCommand(), os.Args[1:]))
}

// execute runs a command line and returns the exit code: 0 done, also if a signal
// ended it; 2 wrong use, or what cannot be measured.
func execute(ctx context.Context, command *cobra.Command, args []string) int {
	command.SetArgs(args)
	err := command.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	command.PrintErrln("Error:", err)
	return 2
}

func newCommand() *cobra.Command {
	command := &cobra.Command{
		Use:   "loadline-probe",
		Short: "Measure a node from within",
		Long: `loadline-probe measures a node from within. It runs standard jobs, whose slowdown tells
what else is on the node and what it does there:

` + result.Help() + `
Results are JSON of at most 4096 bytes, written to /dev/termination-log in a container,
else to the standard output. SIGTERM ends every command, with the result so far.`,
		Version:       version,
		Args:          cobra.NoArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE:          func(command *cobra.Command, _ []string) error { return command.Help() },
	}
	command.SetFlagErrorFunc(func(command *cobra.Command, err error) error {
		return fmt.Errorf("%w\nSee '%s --help' for usage and examples", err, command.CommandPath())
	})
	command.AddCommand(newRun(), newCalibrate(), newSink(), newWatch(), newLoad())
	return command
}

// quiet keeps the garbage collector out of what is measured. Jobs make next to no garbage.
func quiet() { debug.SetGCPercent(-1) }
