// Command reference writes the reference of docs/reference from what Loadline is made
// of: the commands and flags of its programs, its CRDs, the arguments of its scheduler
// plugin, and the metrics that its programs register. It runs in the root of the
// repository:
//
//	go run ./hack/reference --out docs/reference
//
// It fails, with the name, where a command, a flag, a field or a metric does not say
// what it is.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
)

func main() {
	out := flag.String("out", "docs/reference", "folder to write the pages to")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, ".", *out)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

// run writes the reference of the repository in a folder to another folder.
func run(ctx context.Context, root, out string) error {
	commands, err := describePrograms(ctx, root)
	if err != nil {
		return err
	}
	found, err := pages(root, commands)
	if err != nil {
		return err
	}
	return found.write(out)
}
