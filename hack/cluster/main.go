// Cluster runs a real Kubernetes control plane with fake nodes on this machine, built from Go modules. See package
// controlplane.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
)

const usage = `Runs a real Kubernetes control plane with fake nodes on this machine: etcd, kube-apiserver, kube-controller-manager and kwok.
Only Go is needed. The first time the programs are built, which takes some minutes. There is no scheduler: bring your own.

Usage:
  cluster up [--nodes N] [--dir DIR]    run a control plane until Ctrl-C, or "cluster down"
  cluster down [--dir DIR]              stop it from another terminal, and wait until it is gone
  cluster kubeconfig [--dir DIR]        print the path of its kubeconfig file

Examples, from the root of the repository:
  # A control plane with ten nodes
  go run loadline.dev/loadline/hack/cluster up --nodes 10

  # Use it from another terminal
  export KUBECONFIG=$(go run loadline.dev/loadline/hack/cluster kubeconfig)

  # A second one beside it
  go run loadline.dev/loadline/hack/cluster up --dir second

Flags:
`

// Exit codes.
const (
	exitDone     = 0
	exitFailed   = 1
	exitWrongUse = 2
)

// errWrongUse says that the command line makes no sense.
var errWrongUse = errors.New(`see "cluster --help"`)

// command is what the user asked for.
type command struct {
	verb           string
	dir            string
	nodes          int
	stdout, stderr io.Writer
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends us at once
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run does what args say and returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	c := &command{stdout: stdout, stderr: stderr}
	err := c.parse(args)
	if err == nil {
		err = c.verbs()[c.verb](ctx)
	}
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return exitDone
	case errors.Is(err, errWrongUse):
		fmt.Fprintln(stderr, "Error:", err)
		return exitWrongUse
	default:
		fmt.Fprintln(stderr, "Error:", err)
		return exitFailed
	}
}

func (c *command) verbs() map[string]func(context.Context) error {
	return map[string]func(context.Context) error{"up": c.up, "down": c.down, "kubeconfig": c.kubeconfig}
}

// parse reads the command line into c. The verb comes first; flags may stand before or after it.
func (c *command) parse(args []string) error {
	cache, err := os.UserCacheDir()
	if err != nil {
		return err
	}
	flags := flag.NewFlagSet("cluster", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // errors are reported once, by run
	flags.StringVar(&c.dir, "dir", filepath.Join(cache, "loadline", "cluster"), "the `folder` for its kubeconfig, logs and data")
	flags.IntVar(&c.nodes, "nodes", 0, "how many fake nodes to begin with, named node-0000 and so on")

	var words []string
	for rest := args; ; rest = flags.Args()[1:] {
		if err := flags.Parse(rest); errors.Is(err, flag.ErrHelp) {
			fmt.Fprint(c.stdout, usage)
			flags.SetOutput(c.stdout)
			flags.PrintDefaults()
			return err
		} else if err != nil {
			return fmt.Errorf("%w; %w", err, errWrongUse)
		}
		if flags.NArg() == 0 {
			break
		}
		words = append(words, flags.Arg(0))
	}
	if len(words) != 1 {
		return fmt.Errorf("want one of up, down and kubeconfig, got %q; %w", words, errWrongUse)
	}
	c.verb = words[0]
	if _, ok := c.verbs()[c.verb]; !ok {
		return fmt.Errorf("%q is not one of up, down and kubeconfig; %w", c.verb, errWrongUse)
	}
	if c.nodes < 0 {
		return fmt.Errorf("--nodes: %d is negative; %w", c.nodes, errWrongUse)
	}
	return nil
}
