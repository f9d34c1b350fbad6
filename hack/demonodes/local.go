package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"loadline.dev/loadline/hack/cluster/image"
)

// local is the local cluster with two real nodes of one core each.
type local struct {
	root, dir  string    // of the repository, and for temporary files
	command    string    // hack/cluster, built
	kubeconfig string    // of the cluster
	process    *exec.Cmd // runs the cluster; nil if another process does
	log        *progress
}

// findOrStart finds the cluster that runs on this machine, or starts one.
func findOrStart(ctx context.Context, root, dir string, log *progress) (*local, error) {
	l := &local{root: root, dir: dir, command: filepath.Join(dir, "cluster"), log: log}
	if err := image.BuildProgram(ctx, filepath.Join(root, "hack", "cluster"), ".", l.command); err != nil {
		return nil, err
	}
	if path, err := exec.CommandContext(ctx, l.command, "kubeconfig").Output(); err == nil {
		l.kubeconfig = strings.TrimSpace(string(path))
		log.step("using the cluster that is running")
		return l, nil
	}
	return l, l.start(ctx)
}

// start starts a cluster of two workers and waits until it is ready.
func (l *local) start(ctx context.Context) error {
	l.log.step("starting a cluster with two real nodes (the first time its programs are built, which takes minutes)")
	up := exec.CommandContext(ctx, l.command, "up", "--real-nodes", "2")
	up.Stderr = os.Stderr
	up.Cancel = func() error { return up.Process.Signal(syscall.SIGTERM) }
	output, err := up.StdoutPipe()
	if err != nil {
		return err
	}
	if err := up.Start(); err != nil {
		return err
	}
	l.process = up
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		if _, path, ok := strings.Cut(lines.Text(), "export KUBECONFIG="); ok {
			l.kubeconfig = path
			go func() { _, _ = io.Copy(io.Discard, output) }() // so that it never blocks
			return nil
		}
	}
	l.process = nil
	return errors.Join(errors.New("the cluster did not start"), up.Wait())
}

// load builds programs of the repository and makes an image of each on all nodes.
func (l *local) load(ctx context.Context, packages ...string) error {
	args := []string{"load"}
	for _, pkg := range packages {
		l.log.step("building %s", pkg)
		program := filepath.Join(l.dir, filepath.Base(pkg))
		if err := image.BuildProgram(ctx, l.root, pkg, program); err != nil {
			return err
		}
		args = append(args, program)
	}
	return l.run(ctx, args...)
}

// kubectl runs kubectl on the cluster.
func (l *local) kubectl(ctx context.Context, args ...string) error {
	return l.run(ctx, append([]string{"kubectl"}, args...)...)
}

func (l *local) run(ctx context.Context, args ...string) error {
	command := exec.CommandContext(ctx, l.command, args...)
	command.Dir = l.root
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("cluster %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}

// stop stops the cluster, if it was started here.
func (l *local) stop() error {
	if l.process == nil {
		return nil
	}
	l.log.step("stopping the cluster")
	// If it is stopping already, it stays so.
	if err := l.process.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	err := l.process.Wait()
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}
