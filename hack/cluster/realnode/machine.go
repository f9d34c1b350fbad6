//go:build linux

package realnode

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/gofrs/flock"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"loadline.dev/loadline/hack/cluster/controlplane"
	"loadline.dev/loadline/hack/cluster/image"
	"loadline.dev/loadline/hack/cluster/internal/cgroupfs"
	"loadline.dev/loadline/hack/cluster/internal/cores"
	"loadline.dev/loadline/hack/cluster/internal/process"
)

const (
	// ourCgroup is the cgroup that all of ours are in.
	ourCgroup = cgroupfs.Cgroup("loadline")
	// machinery is the cgroup, within ourCgroup, of the programs that make up the cluster.
	machinery = "machinery"
)

// lockFile says who has real nodes: cores and cgroups are the machine's, so only one cluster at a time can.
const lockFile = "/run/loadline-nodes.lock"

// PauseImage is the image that holds a pod's namespaces.
const PauseImage = "loadline/pause:dev"

// Machine is this machine as a host of real nodes. Its methods may be called from several goroutines at once.
type Machine struct {
	dir      string
	workers  int
	log      io.Writer
	lock     *flock.Flock
	cores    cores.Plan
	back     func() error // moves this process out of our cgroups
	pause    string       // the path of the program
	binaries string
	hub      *namespaces

	mu    sync.Mutex
	nodes []*Node // set once, by AddNodes
}

// Claim makes this machine ready to have real nodes, alone: no other process can until Release. It removes what
// another has left that did not get to Release, lays the network, and moves this process to where the machinery
// runs, so that all it starts runs there too. The error lists everything that the machine lacks.
func Claim(ctx context.Context, options Options) (*Machine, error) {
	dir, err := filepath.Abs(options.Dir)
	if err != nil {
		return nil, err
	}
	if problems := missing(options.Workers, dir); len(problems) > 0 {
		return nil, fmt.Errorf("this machine cannot have %d real nodes. It lacks\n  - %s", options.Workers, strings.Join(problems, "\n  - "))
	}
	m := &Machine{dir: dir, workers: options.Workers, log: options.Log}
	if m.log == nil {
		m.log = io.Discard
	}
	m.log = &lockedWriter{w: m.log}
	if m.binaries, err = controlplane.NodeBinaries(ctx, options.Kubernetes, m.log); err != nil {
		return nil, err
	}
	if m.lock, err = lockMachine(dir); err != nil {
		return nil, err
	}
	if err := m.prepare(ctx); err != nil {
		return nil, errors.Join(err, m.Release())
	}
	return m, nil
}

// lockMachine keeps others from having real nodes, and lets them know that ours are in dir.
func lockMachine(dir string) (*flock.Flock, error) {
	lock := flock.New(lockFile)
	ours, err := lock.TryLock()
	if err != nil {
		return nil, err
	}
	if !ours {
		holder, err := os.ReadFile(lockFile)
		return nil, errors.Join(fmt.Errorf("another process has real nodes on this machine, in %s: stop it first (cluster down)", holder), err)
	}
	if err := os.WriteFile(lockFile, []byte(dir), 0o600); err != nil {
		return nil, errors.Join(err, lock.Unlock())
	}
	return lock, nil
}

// prepare does what Claim says, once the machine is ours.
func (m *Machine) prepare(ctx context.Context) (err error) {
	if err := removeRemains(m.dir); err != nil {
		return err
	}
	if err := os.MkdirAll(m.dir, 0o755); err != nil {
		return err
	}
	if err := m.placeMachinery(); err != nil {
		return err
	}
	if err := m.makePause(ctx); err != nil {
		return err
	}
	m.hub, err = hold(m.pause, "the network between the nodes", filepath.Join(m.dir, "hub.log"), unix.CLONE_NEWNET)
	if err != nil {
		return err
	}
	return layNetwork(m.hub, m.workers+1)
}

// placeMachinery decides who runs where, has what pods do at disks counted, and moves this process to its place.
func (m *Machine) placeMachinery() error {
	online, err := cores.Online()
	if err != nil {
		return err
	}
	if m.cores, err = cores.Divide(online, m.workers); err != nil {
		return err
	}
	if err := ourCgroup.Make(machinery, m.cores.Others, cgroupfs.LowWeight); err != nil {
		return err
	}
	if err := ourCgroup.CountOperations(m.dir); err != nil {
		return err
	}
	m.back, err = ourCgroup.Within(machinery).Enter()
	return err
}

// makePause builds the program that holds namespaces, and its image.
func (m *Machine) makePause(ctx context.Context) error {
	module, err := controlplane.ModuleFolder(ctx)
	if err != nil {
		return err
	}
	m.pause = filepath.Join(m.dir, "pause")
	if err := image.BuildProgram(ctx, module, "./pause", m.pause); err != nil {
		return err
	}
	return image.WriteFile(m.pauseImage(), PauseImage, m.pause)
}

func (m *Machine) pauseImage() string { return filepath.Join(m.dir, "pause.tar") }

// Address returns this machine's address in the nodes' network, where an API server must listen to be reached by nodes
// and pods.
func (*Machine) Address() string { return machineAddress }

// AddNodes starts the nodes, which belong to plane, and returns when all are ready for pods. It can be called once.
func (m *Machine) AddNodes(ctx context.Context, plane *controlplane.ControlPlane) error {
	nodes := []*Node{{name: SystemNode, number: 0, cores: m.cores.Others}}
	for i, cores := range m.cores.Workers {
		nodes = append(nodes, &Node{name: fmt.Sprintf("worker-%d", i+1), number: i + 1, cores: cores})
	}
	for _, node := range nodes {
		node.machine, node.plane, node.dir = m, plane, filepath.Join(m.dir, node.name)
		node.running = map[string]*process.Process{}
	}
	m.mu.Lock()
	m.nodes = nodes
	m.mu.Unlock()
	return m.forAll(ctx, (*Node).Start)
}

// Load imports the archive of an image, as package image writes it, into every node, by its name in the archive, or by its digest in a
// repository. The nodes must be running.
func (m *Machine) Load(ctx context.Context, archive, repository string) error {
	return m.forAll(ctx, func(n *Node, ctx context.Context) error { return n.load(ctx, archive, repository) })
}

// Node returns a node by its name. The error lists the names that there are.
func (m *Machine) Node(name string) (*Node, error) {
	var names []string
	for _, node := range m.all() {
		if node.name == name {
			return node, nil
		}
		names = append(names, node.name)
	}
	return nil, fmt.Errorf("there is no node %q; there are %s", name, strings.Join(names, ", "))
}

func (m *Machine) all() []*Node {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.nodes
}

// forAll does something to all nodes at once.
func (m *Machine) forAll(ctx context.Context, do func(*Node, context.Context) error) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, node := range m.all() {
		group.Go(func() error {
			if err := do(node, ctx); err != nil {
				return fmt.Errorf("node %s: %w", node.name, err)
			}
			return nil
		})
	}
	return group.Wait()
}

// Release stops all nodes, with everything on them, and removes everything. It must be called once, when the control
// plane and everything else that this process has started are gone: they live in the cgroups that it removes.
func (m *Machine) Release() error {
	errs := []error{m.forAll(context.Background(), (*Node).Stop)}
	if m.hub != nil {
		errs = append(errs, m.hub.end())
	}
	if m.back != nil {
		errs = append(errs, m.back())
	}
	return errors.Join(append(errs, removeRemains(m.dir), m.lock.Unlock())...)
}

// lockedWriter lets several goroutines write to w.
type lockedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}
