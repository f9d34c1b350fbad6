package start

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

	"loadline.dev/loadline/hack/experiments/report"
)

// localCluster is the local cluster with two real nodes of one core each.
type localCluster struct {
	root       string    // of the repository, where make has built the programs
	kubeconfig string    // of the cluster
	process    *exec.Cmd // runs the cluster; nil if another process does
	log        *report.Progress
}

// findOrStart finds the cluster that runs on this machine, or starts one.
func findOrStart(ctx context.Context, root string, log *report.Progress) (*localCluster, error) {
	l := &localCluster{root: root, log: log}
	if path, err := l.command(ctx, "kubeconfig").Output(); err == nil {
		l.kubeconfig = strings.TrimSpace(string(path))
		log.Step("using the cluster that is running")
		return l, nil
	}
	return l, l.start(ctx)
}

// command is a command of hack/cluster.
func (l *localCluster) command(ctx context.Context, args ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, filepath.Join(l.root, "bin", "tools", "cluster"), args...)
	command.Dir = l.root
	return command
}

// start starts a cluster of two workers and waits until it is ready.
func (l *localCluster) start(ctx context.Context) error {
	l.log.Step("starting a cluster with two real nodes (the first time its programs are built, which takes minutes)")
	up := l.command(ctx, "up", "--real-nodes", "2")
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

// load makes an image of each of the programs, by their paths below bin, on all nodes.
func (l *localCluster) load(ctx context.Context, programs ...string) error {
	args := []string{"load"}
	for _, program := range programs {
		args = append(args, filepath.Join("bin", program))
	}
	return l.run(ctx, args...)
}

// kubectl runs kubectl on the cluster.
func (l *localCluster) kubectl(ctx context.Context, args ...string) error {
	return l.run(ctx, append([]string{"kubectl"}, args...)...)
}

func (l *localCluster) run(ctx context.Context, args ...string) error {
	if out, err := l.command(ctx, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("cluster %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}

// stop stops the cluster, if it was started here.
func (l *localCluster) stop() error {
	if l.process == nil {
		return nil
	}
	l.log.Step("stopping the cluster")
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
