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
	"strings"
	"time"

	"loadline.dev/loadline/hack/cluster/internal/filelock"
)

// stagesFile, beside the binaries, tells kwok how nodes and pods live.
const stagesFile = "stages.yaml"

// program is a program to build: the name of its binary and its main package.
type program struct{ name, pkg string }

// set is a set of programs that are built together, of the versions that one module pins.
type set struct {
	of       string // what messages call it
	module   string // the folder of the module, in that of the module hack/cluster
	programs []program
	finish   func(p pins, ctx context.Context, dir string) error // adds what is not a program; may be nil
}

// controlPlaneSet is what every control plane needs.
func controlPlaneSet() set {
	return set{"the control plane", "binaries", []program{
		{etcdName, "go.etcd.io/etcd/server/v3"},
		{apiServerName, "k8s.io/kubernetes/cmd/kube-apiserver"},
		{controllerManagerName, "k8s.io/kubernetes/cmd/kube-controller-manager"},
		{kwokName, "sigs.k8s.io/kwok/cmd/kwok"},
	}, pins.copyStages}
}

// nodeSet is what real nodes, and those who use them, need besides.
func nodeSet() set {
	return set{"real nodes", filepath.Join("binaries", "node"), []program{
		{"kubelet", "k8s.io/kubernetes/cmd/kubelet"},
		{"kube-proxy", "k8s.io/kubernetes/cmd/kube-proxy"},
		{schedulerName, "k8s.io/kubernetes/cmd/kube-scheduler"},
		{"kubectl", "k8s.io/kubernetes/cmd/kubectl"},
	}, nil}
}

// Binaries returns a folder that holds etcd, kube-apiserver, kube-controller-manager, kwok and kwok's stages, in the
// versions that the module hack/cluster/binaries pins. They are built on the first call, which takes some minutes,
// and kept in the user's cache folder for all later ones; other versions, another Go or other build flags have a
// folder of their own. Two processes never build at once: the second waits for the first.
//
// log receives what is being built, and may be nil. Building needs the go command, and the Go module proxy unless
// the modules are on this machine already.
func Binaries(ctx context.Context, log io.Writer) (string, error) {
	return controlPlaneSet().find(ctx, log)
}

// NodeBinaries is like [Binaries] for a folder that holds kubelet, kube-proxy, kube-scheduler and kubectl, pinned by
// the module hack/cluster/binaries/node.
func NodeBinaries(ctx context.Context, log io.Writer) (string, error) {
	return nodeSet().find(ctx, log)
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
	pins, err := findPins(ctx, s.module)
	if err != nil {
		return "", err
	}
	key, err := pins.key(ctx, s.programs)
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
	return dir, errors.Join(s.buildInto(ctx, pins, dir, log), lock.Unlock())
}

// lockForBuild keeps other builders out, and tells the user when it has to wait for one.
func lockForBuild(ctx context.Context, path string, log io.Writer) (*filelock.Lock, error) {
	lock, err := filelock.Try(path)
	if errors.Is(err, filelock.ErrHeld) {
		fmt.Fprintln(log, "waiting for another process that builds the binaries")
		return filelock.Wait(ctx, path)
	}
	return lock, err
}

// buildInto builds everything beside dir and moves it there in one step: dir exists only when it is complete.
func (s set) buildInto(ctx context.Context, pins pins, dir string, log io.Writer) error {
	partial := dir + ".partial"
	if err := os.RemoveAll(partial); err != nil { // of a builder that was killed
		return err
	}
	if err := os.Mkdir(partial, 0o755); err != nil {
		return err
	}
	err := s.build(ctx, pins, partial, log)
	if err == nil {
		err = os.Rename(partial, dir)
	}
	return errors.Join(err, os.RemoveAll(partial))
}

// build builds the programs, and what else belongs to the set, into dir.
func (s set) build(ctx context.Context, p pins, dir string, log io.Writer) error {
	version, err := p.module(ctx, "{{.Version}}", "k8s.io/kubernetes")
	if err != nil {
		return err
	}
	flags, err := linkerFlags(version)
	if err != nil {
		return err
	}
	for _, program := range s.programs {
		begin := time.Now()
		fmt.Fprintf(log, "building %s (the first time only, some minutes)\n", program.name)
		args := append([]string{"build"}, buildFlags...)
		args = append(args, "-ldflags="+flags, "-o", filepath.Join(dir, program.name), program.pkg)
		if _, err := p.run(ctx, args...); err != nil {
			return err
		}
		fmt.Fprintf(log, "built %s in %.0fs\n", program.name, time.Since(begin).Seconds())
	}
	if s.finish == nil {
		return nil
	}
	return s.finish(p, ctx, dir)
}

// copyStages writes the stages by which kwok makes nodes and pods ready at once, from kwok's own module, into one
// file in dir.
func (p pins) copyStages(ctx context.Context, dir string) error {
	kwok, err := p.module(ctx, "{{.Dir}}", "sigs.k8s.io/kwok")
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
func (p pins) key(ctx context.Context, programs []program) (string, error) {
	hash := sha256.New()
	for _, name := range []string{"go.mod", "go.sum"} {
		content, err := os.ReadFile(filepath.Join(string(p), name))
		if err != nil {
			return "", err
		}
		hash.Write(content)
	}
	toolchain, err := p.run(ctx, "env", "GOVERSION", "GOOS", "GOARCH")
	if err != nil {
		return "", err
	}
	flags, err := linkerFlags("v0.0.0")
	if err != nil {
		return "", err
	}
	fmt.Fprintln(hash, toolchain, buildFlags, flags, programs)
	return fmt.Sprintf("%x", hash.Sum(nil)[:8]), nil
}

func isDir(path string) (bool, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && info.IsDir(), err
}
