package controlplane

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

// lockInterval is how often a lock that another process holds is tried again.
const lockInterval = 20 * time.Millisecond

// stagesFile, beside the binaries, tells kwok how nodes and pods live.
const stagesFile = "stages.yaml"

// program is a program to build: the name of its binary, its main package, and the module that pins its version, as a folder
// in that of the module hack/cluster.
type program struct{ name, pkg, module string }

// set is a set of programs that are built together.
type set struct {
	of       string // what messages call it
	programs []program
	finish   func(ctx context.Context, dir string) error // adds what is not a program; may be nil
}

// controlPlaneSet is what every control plane needs, with the Kubernetes of a module.
func controlPlaneSet(kubernetes string) set {
	return set{"the control plane", []program{
		{etcdName, "go.etcd.io/etcd/server/v3", defaultModule},
		{apiServerName, "k8s.io/kubernetes/cmd/kube-apiserver", kubernetes},
		{controllerManagerName, "k8s.io/kubernetes/cmd/kube-controller-manager", kubernetes},
		{kwokName, "sigs.k8s.io/kwok/cmd/kwok", defaultModule},
	}, copyStages}
}

// nodeSet is what real nodes, and those who use them, need besides, of the Kubernetes of a module.
func nodeSet(kubernetes string) set {
	return set{"real nodes", []program{
		{"kubelet", "k8s.io/kubernetes/cmd/kubelet", kubernetes},
		{"kube-proxy", "k8s.io/kubernetes/cmd/kube-proxy", kubernetes},
		{schedulerName, "k8s.io/kubernetes/cmd/kube-scheduler", kubernetes},
		{"kubectl", "k8s.io/kubernetes/cmd/kubectl", kubernetes},
	}, nil}
}

// kindSet is what nodes of kind, which are of the default version of Kubernetes, need besides.
func kindSet() set {
	return set{"nodes of kind", []program{
		{"kubeadm", "k8s.io/kubernetes/cmd/kubeadm", filepath.Join(defaultModule, "node")},
		{"coredns", ".", filepath.Join(defaultModule, "coredns")},
	}, nil}
}

// Binaries returns a folder that holds etcd, kube-apiserver, kube-controller-manager, kwok and kwok's stages, for a
// version of Kubernetes as [Options] has it. They are built on the first call, which takes some minutes,
// and kept in the user's cache folder for all later ones; other versions, another Go or other build flags have a
// folder of their own. Two processes never build at once: the second waits for the first.
//
// log receives what is being built, and may be nil. Building needs the go command, and the Go module proxy unless
// the modules are on this machine already.
func Binaries(ctx context.Context, kubernetes string, log io.Writer) (string, error) {
	module, err := moduleOf(ctx, kubernetes, defaultModule)
	if err != nil {
		return "", err
	}
	return controlPlaneSet(module).find(ctx, log)
}

// NodeBinaries is like [Binaries] for a folder that holds kubelet, kube-proxy, kube-scheduler and kubectl.
func NodeBinaries(ctx context.Context, kubernetes string, log io.Writer) (string, error) {
	module, err := moduleOf(ctx, kubernetes, filepath.Join(defaultModule, "node"))
	if err != nil {
		return "", err
	}
	return nodeSet(module).find(ctx, log)
}

// KindBinaries is like [Binaries], for the default version of Kubernetes, for a folder that holds kubeadm and CoreDNS.
func KindBinaries(ctx context.Context, log io.Writer) (string, error) {
	return kindSet().find(ctx, log)
}

// find returns the folder of the set's binaries, built if need be.
func (s set) find(ctx context.Context, log io.Writer) (string, error) {
	if log == nil {
		log = io.Discard
	}
	dir, err := s.findOrBuild(ctx, log)
	if err != nil {
		return "", fmt.Errorf("find or build the binaries of %s: %w", s.of, err)
	}
	return dir, nil
}

func (s set) findOrBuild(ctx context.Context, log io.Writer) (string, error) {
	key, err := s.key(ctx)
	if err != nil {
		return "", err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	root := filepath.Join(cache, "loadline", "binaries")
	dir := filepath.Join(root, key)
	if exists, err := isDir(dir); exists || err != nil {
		return dir, err
	}

	if err := os.MkdirAll(root, 0o755); err != nil {
		return "", err
	}
	lock, err := lockForBuild(ctx, filepath.Join(root, "lock"), log)
	if err != nil {
		return "", err
	}
	if exists, err := isDir(dir); exists || err != nil { // by the one we waited for
		return dir, errors.Join(err, lock.Unlock())
	}
	return dir, errors.Join(s.buildInto(ctx, dir, log), lock.Unlock())
}

// lockForBuild keeps other builders out, and tells the user when it has to wait for one.
func lockForBuild(ctx context.Context, path string, log io.Writer) (*flock.Flock, error) {
	lock := flock.New(path)
	ours, err := lock.TryLock()
	if !ours && err == nil {
		fmt.Fprintln(log, "waiting for another process that builds the binaries")
		_, err = lock.TryLockContext(ctx, lockInterval)
	}
	return lock, err
}

// buildInto builds everything beside dir and moves it there in one step: dir exists only when it is complete.
func (s set) buildInto(ctx context.Context, dir string, log io.Writer) error {
	partial := dir + ".partial"
	if err := os.RemoveAll(partial); err != nil { // of a builder that was killed
		return err
	}
	if err := os.Mkdir(partial, 0o755); err != nil {
		return err
	}
	err := s.build(ctx, partial, log)
	if err == nil {
		err = os.Rename(partial, dir)
	}
	return errors.Join(err, os.RemoveAll(partial))
}

// build builds the programs, and what else belongs to the set, into dir.
func (s set) build(ctx context.Context, dir string, log io.Writer) error {
	for _, program := range s.programs {
		begin := time.Now()
		fmt.Fprintf(log, "building %s (the first time only, some minutes)\n", program.name)
		if err := program.build(ctx, dir); err != nil {
			return err
		}
		fmt.Fprintf(log, "built %s in %.0fs\n", program.name, time.Since(begin).Seconds())
	}
	if s.finish == nil {
		return nil
	}
	return s.finish(ctx, dir)
}

// build builds the program into dir. If it is Kubernetes', it says that it is of the version that its module pins.
func (p program) build(ctx context.Context, dir string) error {
	pins, err := findPins(ctx, p.module)
	if err != nil {
		return err
	}
	flags := stripFlags
	if strings.HasPrefix(p.pkg, kubernetesModule+"/") {
		version, err := pins.module(ctx, "{{.Version}}", kubernetesModule)
		if err != nil {
			return err
		}
		if flags, err = linkerFlags(version); err != nil {
			return err
		}
	}
	args := append([]string{"build"}, buildFlags...)
	_, err = pins.run(ctx, append(args, "-ldflags="+flags, "-o", filepath.Join(dir, p.name), p.pkg)...)
	return err
}

// copyStages writes the stages by which kwok makes nodes and pods ready at once, from kwok's own module, into one
// file in dir.
func copyStages(ctx context.Context, dir string) error {
	pins, err := findPins(ctx, defaultModule)
	if err != nil {
		return err
	}
	kwok, err := pins.module(ctx, "{{.Dir}}", "sigs.k8s.io/kwok")
	if err != nil {
		return err
	}
	var stages []string
	for _, kind := range []string{"node", "pod"} {
		files, err := filepath.Glob(filepath.Join(kwok, "kustomize", "stage", kind, "fast", kind+"-*.yaml"))
		if err != nil {
			return err
		}
		if len(files) == 0 {
			return fmt.Errorf("kwok's module has no fast stages for a %s in %s", kind, kwok)
		}
		for _, file := range files {
			stage, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			stages = append(stages, string(stage))
		}
	}
	return os.WriteFile(filepath.Join(dir, stagesFile), []byte(strings.Join(stages, "\n---\n")), 0o644)
}

// key names a build: the same pins, Go, flags and programs give the same key.
func (s set) key(ctx context.Context) (string, error) {
	hash := sha256.New()
	for _, module := range s.modules() {
		pins, err := findPins(ctx, module)
		if err != nil {
			return "", err
		}
		for _, name := range []string{"go.mod", "go.sum"} {
			content, err := os.ReadFile(filepath.Join(string(pins), name))
			if err != nil {
				return "", err
			}
			hash.Write(content)
		}
		toolchain, err := pins.run(ctx, "env", "GOVERSION", "GOOS", "GOARCH")
		if err != nil {
			return "", err
		}
		fmt.Fprintln(hash, toolchain)
	}
	flags, err := linkerFlags("v0.0.0")
	if err != nil {
		return "", err
	}
	fmt.Fprintln(hash, buildFlags, flags, s.programs)
	return fmt.Sprintf("%x", hash.Sum(nil)[:8]), nil
}

// modules returns the modules that pin the programs, sorted.
func (s set) modules() []string {
	var all []string
	for _, p := range s.programs {
		all = append(all, p.module)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func isDir(path string) (bool, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && info.IsDir(), err
}
