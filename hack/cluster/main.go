// Cluster runs a real Kubernetes control plane on this machine, with fake nodes, real ones or both, built from Go
// modules. See packages controlplane and realnode.
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
	"slices"
	"strings"
	"syscall"

	"loadline.dev/loadline/hack/cluster/kindcluster"
)

const usage = `Runs a real Kubernetes control plane on this machine: etcd, kube-apiserver, kube-controller-manager, and nodes. Only Go is
needed for fake nodes, which kwok plays. Real nodes run pods: they need root and some Debian packages (make
node-packages), and bring kube-scheduler along; without them there is no scheduler: bring your own. The first time the
programs are built, which takes some minutes.

Usage:
  cluster up [--nodes N] [--real-nodes N]   run a control plane until Ctrl-C, or "cluster down"
  cluster run [FLAGS] COMMAND...            the same for as long as a command runs, with KUBECONFIG set for it
  cluster down                              stop it from another terminal, and wait until it is gone
  cluster kubeconfig                        print the path of its kubeconfig file
  cluster kubectl ARGUMENT...               run kubectl, of the same version, on it, or on the cluster of --kubeconfig
  cluster load PROGRAM...                   make an image loadline/NAME:dev of each static program, on all real nodes
  cluster image FOLDER PROGRAM...           write such images into a folder, for other clusters and for registries, and
                                            what the programs are made of
  cluster sbom PROGRAM FILE                 write what a program is made of: its bill of materials
  cluster node start NODE                   bring back what of a real node is not running
  cluster node stop NODE                    cut its power
  cluster node kill-kubelet NODE            crash its kubelet; its pods go on
  cluster kind-image                        make an image of nodes of kind, if need be, and print the path of its archive
  cluster kind-config                       print the configuration of a cluster of kind, for the machine of Docker
  cluster kind-node start NODE              bring back a node of kind, and what of it is not running; also "stop" and
                                            "kill-kubelet", as with a real node
  cluster docker COMMAND...                 run a command with a Docker daemon, which is started for it if none runs

Examples, from the root of the repository:
  # A control plane with ten fake nodes
  go run loadline.dev/loadline/hack/cluster up --nodes 10

  # Use it from another terminal
  export KUBECONFIG=$(go run loadline.dev/loadline/hack/cluster kubeconfig)

  # A second one beside it
  go run loadline.dev/loadline/hack/cluster up --dir second

  # As root: two nodes that run pods, worker-1 and worker-2, with a core each, and one for operators, named system
  go run loadline.dev/loadline/hack/cluster up --real-nodes 2

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
	args           []string // after the verb
	dir            string
	nodes          int
	realNodes      int
	workerCores    int
	kubernetes     string
	auditLog       string
	otherCluster   string
	debianMirror   string
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
		err = c.do(ctx)
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

// verbs are what the user can ask for.
var verbs = []string{"up", "run", "down", "kubeconfig", "kubectl", "load", "image", "sbom", "node", "kind-image", "kind-config", "kind-node", "docker"}

// do does what was parsed.
func (c *command) do(ctx context.Context) error {
	switch c.verb {
	case "up":
		return c.up(ctx, c.untilStopped)
	case "run":
		return c.up(ctx, c.runCommand)
	case "down":
		return c.down(ctx)
	case "kubeconfig":
		return c.kubeconfig()
	case "kubectl":
		return c.kubectl(ctx)
	case "load":
		return c.load(ctx)
	case "image":
		return c.image()
	case "sbom":
		return c.sbom()
	case "kind-image":
		return c.kindImage(ctx)
	case "kind-config":
		return c.kindConfig(ctx)
	case "kind-node":
		return kindcluster.Do(ctx, c.args[0], c.args[1])
	case "docker":
		return c.docker(ctx)
	default:
		return c.node(ctx)
	}
}

// parse reads the command line into c. The verb comes first; flags may stand before or after it, but what follows
// kubectl is kubectl's, and what follows a command to run is the command's.
func (c *command) parse(args []string) error {
	flags, err := c.flags()
	if err != nil {
		return err
	}
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
		switch c.verb {
		case "":
			c.verb = flags.Arg(0)
			if c.verb == "kubectl" {
				c.args = flags.Args()[1:]
				return c.validate()
			}
		case "run", "docker":
			c.args = flags.Args()
			return c.validate()
		default:
			c.args = append(c.args, flags.Arg(0))
		}
	}
	return c.validate()
}

func (c *command) flags() (*flag.FlagSet, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, err
	}
	flags := flag.NewFlagSet("cluster", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // errors are reported once, by run
	flags.StringVar(&c.dir, "dir", filepath.Join(cache, "loadline", "cluster"), "the `folder` for its kubeconfig, logs and data")
	flags.IntVar(&c.nodes, "nodes", 0, "how many fake nodes to begin with, named node-0000 and so on")
	flags.StringVar(&c.kubernetes, "kubernetes", "", "the minor `version` of Kubernetes, such as 1.34; the newest if empty")
	flags.StringVar(&c.auditLog, "audit-log", "", "the `file` for what service accounts ask of the API server, and what it answers; none if empty")
	flags.StringVar(&c.otherCluster, "kubeconfig", "", "the kubeconfig `file` of another cluster, for kubectl; that of the local control plane if empty")
	flags.StringVar(&c.debianMirror, "debian-mirror", "", "the `address` of a mirror of Debian, for kind-image; that of this machine's apt if empty")
	flags.IntVar(&c.realNodes, "real-nodes", 0, "how many nodes that run pods, each with cores of its own, named worker-1 and so on")
	flags.IntVar(&c.workerCores, "worker-cores", 1, "how many cores each of these has; with all of the machine's, the control plane shares them")
	return flags, nil
}

// validate reports whether what was parsed makes sense.
func (c *command) validate() error {
	if !slices.Contains(verbs, c.verb) {
		return fmt.Errorf("want one of %s, got %q; %w", strings.Join(verbs, ", "), c.verb, errWrongUse)
	}
	for flag, value := range map[string]int{"nodes": c.nodes, "real-nodes": c.realNodes} {
		if value < 0 {
			return fmt.Errorf("--%s: %d is negative; %w", flag, value, errWrongUse)
		}
	}
	if c.workerCores < 1 {
		return fmt.Errorf("--worker-cores: %d is not at least 1; %w", c.workerCores, errWrongUse)
	}
	if n := len(c.socket()); c.realNodes > 0 && n > maxSocketPath {
		return fmt.Errorf("--dir: %s is %d characters too long for a socket in it; %w", c.dir, n-maxSocketPath, errWrongUse)
	}
	switch n := len(c.args); c.verb {
	case "up", "down", "kubeconfig", "kind-image", "kind-config":
		if n > 0 {
			return fmt.Errorf("%s takes flags only, got %q; %w", c.verb, c.args, errWrongUse)
		}
	case "run", "docker":
		if n == 0 {
			return fmt.Errorf("run what? Name a command; %w", errWrongUse)
		}
	case "load":
		if n == 0 {
			return fmt.Errorf("load what? Name static programs, such as bin/loadline-manager; %w", errWrongUse)
		}
	case "image":
		if n < 2 {
			return fmt.Errorf("image takes a folder and static programs, such as out/images bin/loadline-manager; %w", errWrongUse)
		}
	case "sbom":
		if n != 2 {
			return fmt.Errorf("sbom takes a program and a file to write, such as bin/loadline-manager sbom.json; %w", errWrongUse)
		}
	case "node", "kind-node":
		if n != 2 || !slices.Contains(nodeVerbs, c.args[0]) {
			return fmt.Errorf("%s takes one of %s and the name of a node, got %q; %w", c.verb, strings.Join(nodeVerbs, ", "), c.args, errWrongUse)
		}
	}
	return nil
}
