// Command reference writes the reference of docs/reference from what Loadline is made
// of: the commands and flags of its programs, its CRDs, the arguments of its scheduler
// plugin, the metrics that its programs register, the alerts of the chart with the
// runbooks that are here, and the methods that flags choose from. It runs in the root
// of the repository:
//
//	go run ./hack/reference --out docs/reference
//
// It fails, with the name, where a command, a flag, a field, a metric or a method does
// not say what it is, and where an alert has no runbook.
//
// Generators that exist would make poorer pages:
//
//   - github.com/spf13/cobra/doc takes help texts for Markdown, so that their tables,
//     indented by two spaces, become one paragraph; it does not mark required flags;
//     it prints defaults that depend on the machine, such as a number of CPUs; it lists
//     all flags of kube-scheduler; and programs would depend on go-md2man, as it must be
//     compiled into them: their commands are in packages main.
//   - github.com/elastic/crd-ref-docs (v0.3.0) leaves out the rules in CEL, whose
//     messages are what users read when an object is refused, the keys of lists, scope,
//     short names and columns. It does not know the reasons of conditions, which are
//     constants without a type. Templates could add some of that, as a program in a
//     language without tests.
//
// For metrics there is none: what is registered is known only where it runs.
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
