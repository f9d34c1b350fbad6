// Command cluster runs a real Kubernetes control plane on this machine, with fake nodes, real ones or both, built from Go
// modules, and makes what clusters of kind are made of. See packages controlplane, realnode and kindnode.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"
)

// Exit codes.
const (
	exitDone     = 0
	exitFailed   = 1
	exitWrongUse = 2
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends us at once
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run runs a command line and returns the exit code. What is wrong with a command line is found before its verb begins.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	begun := false
	root := newRoot()
	root.PersistentPreRun = func(*cobra.Command, []string) { begun = true }
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	command, err := root.ExecuteContextC(ctx)
	switch {
	case err == nil:
		return exitDone
	case begun:
		fmt.Fprintln(stderr, "Error:", err)
		return exitFailed
	default:
		fmt.Fprintf(stderr, "Error: %v\nSee '%s --help' for usage and examples\n", err, command.CommandPath())
		return exitWrongUse
	}
}

// local is the control plane on this machine that verbs are about.
type local struct {
	dir string // the folder for its kubeconfig, logs and data
}

func newRoot() *cobra.Command {
	l := &local{}
	root := &cobra.Command{
		Use:   "cluster",
		Short: "Run a Kubernetes control plane, with fake nodes or real ones, on this machine",
		Long: `cluster runs a real Kubernetes control plane on this machine: etcd, kube-apiserver,
kube-controller-manager, and nodes. Only Go is needed for fake nodes, which kwok plays.
Real nodes run pods: they need root and some Debian packages (make node-packages), and
bring kube-scheduler along; without them there is no scheduler: bring your own. The first
time the programs are built, which takes some minutes.

Exit codes: 0 done; 1 failed; 2 wrong use.`,
		Example: `  # A control plane with ten fake nodes, until Ctrl-C
  cluster up --nodes 10

  # Use it from another terminal
  export KUBECONFIG=$(cluster kubeconfig)

  # A second one beside it
  cluster up --dir second`,
		Args:              cobra.NoArgs,
		SilenceErrors:     true,
		SilenceUsage:      true,
		TraverseChildren:  true, // flags may stand before a verb: after kubectl they are kubectl's
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
		RunE:              func(command *cobra.Command, _ []string) error { return command.Help() },
	}
	root.PersistentFlags().StringVar(&l.dir, "dir", defaultDir(), "the `folder` for the kubeconfig, logs and data of the local control plane")
	addGroup(root, "The local control plane:", newUp(l), newRun(l), newDown(l), newKubeconfig(l), newKubectl(root, l), newLoad(l), newNode(l))
	addGroup(root, "Clusters of kind:", newDocker(), newKindImage(), newKindConfig(), newKindNode())
	addGroup(root, "Images and releases:", newImage(), newSbom())
	return root
}

// addGroup adds verbs that the help lists under a title.
func addGroup(root *cobra.Command, title string, verbs ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: title, Title: title})
	for _, verb := range verbs {
		verb.GroupID = title
		root.AddCommand(verb)
	}
}

// defaultDir is in the user's cache, or, for a user who has none, in the working directory.
func defaultDir() string {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "cluster"
	}
	return filepath.Join(cache, "loadline", "cluster")
}
