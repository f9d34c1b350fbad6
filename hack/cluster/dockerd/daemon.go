//go:build linux

package dockerd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"loadline.dev/loadline/hack/cluster/controlplane"
	"loadline.dev/loadline/hack/cluster/image"
	"loadline.dev/loadline/hack/cluster/internal/filelock"
	"loadline.dev/loadline/hack/cluster/internal/process"
)

// Packages are the Debian packages that the daemon needs.
const Packages = "docker.io iptables"

// runDir is what a reboot forgets: sockets, process ids, the bundles of containers.
const runDir = "/run/loadline-docker"

// readyPatience is how long the daemon may take to answer.
const readyPatience = time.Minute

// Available reports whether a Docker daemon answers where DOCKER_HOST, or its default, says.
func Available(ctx context.Context) bool {
	return exec.CommandContext(ctx, "docker", "info").Run() == nil
}

// Daemon is a running Docker daemon.
type Daemon struct {
	dir     string
	lock    *filelock.Lock
	process *process.Process
}

// Start starts a daemon that keeps its images in the folder dir, and returns when it answers. The error lists everything that
// the machine lacks. Only one daemon of ours can run at a time.
func Start(ctx context.Context, dir string) (*Daemon, error) {
	if problems := missing(); len(problems) > 0 {
		return nil, fmt.Errorf("this machine cannot run a Docker daemon. It lacks\n  - %s", strings.Join(problems, "\n  - "))
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	lock, err := filelock.Try(filepath.Join(dir, "lock"))
	if errors.Is(err, filelock.ErrHeld) {
		return nil, fmt.Errorf("another process runs a Docker daemon in %s: wait for it, or use that one (DOCKER_HOST=%s)", dir, host)
	}
	if err != nil {
		return nil, err
	}
	d := &Daemon{dir: dir, lock: lock}
	if err := d.start(ctx); err != nil {
		return nil, errors.Join(err, d.clean())
	}
	return d, nil
}

// missing returns everything that keeps this machine from running the daemon, each as a phrase.
func missing() []string {
	if os.Geteuid() != 0 {
		return []string{"root: only root can run it"}
	}
	var absent []string
	for _, program := range []string{"dockerd", "docker", "containerd", "runc", "iptables"} {
		if _, err := exec.LookPath(program); err != nil {
			absent = append(absent, program)
		}
	}
	if len(absent) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("programs: %s (on Debian: apt-get install --no-install-recommends %s)", strings.Join(absent, ", "), Packages)}
}

// socket is where the daemon answers, and host what Docker's programs call that.
const (
	socket = runDir + "/docker.sock"
	host   = "unix://" + socket
)

// Env is what a program needs in its environment to use the daemon.
func (*Daemon) Env() string { return "DOCKER_HOST=" + host }

// Done is closed when the daemon has ended.
func (d *Daemon) Done() <-chan struct{} { return d.process.Exited() }

// Err says why the daemon has ended by itself; it must have ended.
func (d *Daemon) Err() error { return d.process.Failure() }

// start starts the daemon and waits until it answers.
func (d *Daemon) start(ctx context.Context) error {
	if err := removeRemains(d.dir); err != nil { // of one that was killed
		return err
	}
	if err := os.MkdirAll(runDir, 0o700); err != nil {
		return err
	}
	module, err := controlplane.ModuleFolder(ctx)
	if err != nil {
		return err
	}
	runtime := filepath.Join(d.dir, "runc")
	if err := image.BuildProgram(ctx, module, "./dockerd/runc", runtime); err != nil {
		return err
	}
	settings, err := json.Marshal(map[string]any{
		"data-root":       filepath.Join(d.dir, "data"),
		"exec-root":       runDir,
		"pidfile":         filepath.Join(runDir, "pid"),
		"hosts":           []string{host},
		"runtimes":        map[string]any{"limited": map[string]any{"path": runtime}},
		"default-runtime": "limited",
		"bridge":          "none",
		"iptables":        false,
	})
	if err != nil {
		return err
	}
	config := filepath.Join(runDir, "daemon.json")
	if err := os.WriteFile(config, settings, 0o600); err != nil {
		return err
	}
	program, err := exec.LookPath("dockerd")
	if err != nil {
		return err
	}
	d.process, err = process.Start(process.Spec{
		Name: "dockerd", Path: program, Args: []string{"--config-file", config},
		Env: []string{"PATH=" + os.Getenv("PATH")}, Log: filepath.Join(d.dir, "dockerd.log"),
	})
	if err != nil {
		return err
	}
	return d.awaitReady(ctx)
}

// awaitReady returns when the daemon answers.
func (d *Daemon) awaitReady(ctx context.Context) error {
	client := http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}}}
	var problem error
	err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, readyPatience, true, func(ctx context.Context) (bool, error) {
		select {
		case <-d.process.Exited():
			return false, d.process.Failure()
		default:
		}
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://docker/_ping", nil)
		if err != nil {
			return false, err
		}
		response, err := client.Do(request)
		if err != nil {
			problem = err
			return false, nil // it has not opened its socket yet
		}
		problem = fmt.Errorf("it answers %s", response.Status)
		return response.StatusCode == http.StatusOK, response.Body.Close()
	})
	if err != nil {
		return fmt.Errorf("the Docker daemon is not ready: %w (%w)\n%s", err, problem, d.process.Tail())
	}
	return nil
}

// Stop removes all containers, stops the daemon and removes what it leaves on the machine but its images.
func (d *Daemon) Stop() error {
	err := d.removeContainers()
	return errors.Join(err, d.clean())
}

// removeContainers removes all containers, with their volumes: a daemon takes long to stop while they run.
func (d *Daemon) removeContainers() error {
	select {
	case <-d.process.Exited(): // crashed, which [Daemon.Err] says
		return nil
	default:
	}
	ids, err := d.docker("ps", "--all", "--quiet")
	if err != nil || ids == "" {
		return err
	}
	_, err = d.docker(append([]string{"rm", "--force", "--volumes"}, strings.Fields(ids)...)...)
	return err
}

// docker runs the docker command with the daemon and returns what it prints.
func (d *Daemon) docker(args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "docker", args...)
	cmd.Env = append(os.Environ(), d.Env())
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("docker %s: %w: %s", args[0], err, bytes.TrimSpace(stderr.Bytes()))
	}
	return strings.TrimSpace(string(out)), nil
}

// clean ends the process, if it runs, and removes what it leaves.
func (d *Daemon) clean() error {
	var errs []error
	if d.process != nil {
		errs = append(errs, d.process.Stop())
	}
	return errors.Join(append(errs, removeRemains(d.dir), d.lock.Unlock())...)
}
