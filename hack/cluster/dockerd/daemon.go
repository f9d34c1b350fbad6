//go:build linux

package dockerd

import (
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

	"github.com/gofrs/flock"
	"github.com/moby/sys/mount"

	"loadline.dev/loadline/hack/cluster/controlplane"
	"loadline.dev/loadline/hack/cluster/image"
	"loadline.dev/loadline/hack/cluster/internal/cgroupfs"
	"loadline.dev/loadline/hack/cluster/internal/cores"
	"loadline.dev/loadline/hack/cluster/internal/process"
)

// Packages are the Debian packages that the daemon needs.
const Packages = "docker.io iptables"

// runDir is what a reboot forgets: sockets, process ids, the bundles of containers.
const runDir = "/run/loadline-docker"

const (
	// cgroup is the cgroup of all containers, and of this process and what it starts.
	cgroup = cgroupfs.Cgroup("loadline-docker")
	// programs is the cgroup, within that one, of all that is in no container.
	programs = "programs"
)

// settingsFile holds the kernel's settings, below sysDir, as they were before. It outlives a daemon that was killed.
const (
	settingsFile = runDir + "-settings.json"
	sysDir       = "/proc/sys"
)

// readyDeadline is how long the daemon may take to answer.
const readyDeadline = time.Minute

// Daemon is a running Docker daemon.
type Daemon struct {
	dir     string
	lock    *flock.Flock
	back    func() error // moves this process out of our cgroup
	process *process.Process
}

// Start starts a daemon that keeps its images in the folder dir, and returns when it answers. An error about what the machine
// lacks says what to do. Only one daemon of ours can run at a time.
func Start(ctx context.Context, dir string) (*Daemon, error) {
	if err := able(); err != nil {
		return nil, fmt.Errorf("no Docker daemon answers, and this machine cannot run one: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	d := &Daemon{dir: dir, lock: flock.New(filepath.Join(dir, "lock"))}
	ours, err := d.lock.TryLock()
	if err != nil {
		return nil, err
	}
	if !ours {
		return nil, fmt.Errorf("another process runs a Docker daemon in %s: wait for it, or use that one (DOCKER_HOST=%s)", dir, host)
	}
	if err := d.start(ctx); err != nil {
		return nil, errors.Join(err, d.clean())
	}
	return d, nil
}

// able returns what keeps this machine from running the daemon.
func able() error {
	if os.Geteuid() != 0 {
		return errors.New("only root can run it")
	}
	var absent []string
	for _, program := range []string{"dockerd", "docker", "containerd", "runc", "iptables"} {
		if _, err := exec.LookPath(program); err != nil {
			absent = append(absent, program)
		}
	}
	if len(absent) > 0 {
		return fmt.Errorf("it has no %s (on Debian: apt-get install --no-install-recommends %s)", strings.Join(absent, ", "), Packages)
	}
	return nil
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

// start starts the daemon and waits until it answers. What another has left that was killed, or whose process was, is gone then.
func (d *Daemon) start(ctx context.Context) error {
	if err := d.removeRemains(); err != nil {
		return err
	}
	if err := saveSettings(sysDir, settingsFile); err != nil {
		return err
	}
	if err := d.enterCgroup(); err != nil {
		return err
	}
	module, err := controlplane.ModuleFolder(ctx)
	if err != nil {
		return err
	}
	if err := image.BuildProgram(ctx, module, "./dockerd/runc", d.runtime()); err != nil {
		return err
	}
	if err := d.launch(ctx); err != nil {
		return err
	}
	return d.removeContainers()
}

// launch starts the daemon's program and returns when it answers.
func (d *Daemon) launch(ctx context.Context) error {
	config, err := json.Marshal(map[string]any{
		"data-root":       filepath.Join(d.dir, "data"),
		"exec-root":       runDir,
		"pidfile":         filepath.Join(runDir, "pid"),
		"hosts":           []string{host},
		"runtimes":        map[string]any{"limited": map[string]any{"path": d.runtime()}},
		"default-runtime": "limited",
		"cgroup-parent":   "/" + string(cgroup),                     // without the slash they would be below those of the daemon
		"exec-opts":       []string{"native.cgroupdriver=cgroupfs"}, // systemd's takes names of slices only
		"bridge":          "none",
		"iptables":        false,
	})
	if err != nil {
		return err
	}
	configFile := filepath.Join(runDir, "daemon.json")
	if err := errors.Join(os.MkdirAll(runDir, 0o700), os.WriteFile(configFile, config, 0o600)); err != nil {
		return err
	}
	program, err := exec.LookPath("dockerd")
	if err != nil {
		return err
	}
	d.process, err = process.Start(process.Spec{
		Name: "dockerd", Path: program, Args: []string{"--config-file", configFile},
		Env: []string{"PATH=" + os.Getenv("PATH")}, Log: filepath.Join(d.dir, "dockerd.log"),
	})
	if err != nil {
		return err
	}
	return d.awaitReady(ctx)
}

// runtime is the path of what runs containers.
func (d *Daemon) runtime() string { return filepath.Join(d.dir, "runc") }

// enterCgroup moves this process into our cgroup, whose containers have the processors to themselves also on a machine in use.
func (d *Daemon) enterCgroup() error {
	all, err := cores.Online()
	if err != nil {
		return err
	}
	if err := cgroup.Make(programs, all, cgroupfs.LowWeight); err != nil {
		return err
	}
	d.back, err = cgroup.Within(programs).Enter()
	return err
}

// awaitReady returns when the daemon answers.
func (d *Daemon) awaitReady(ctx context.Context) error {
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}}}
	defer client.CloseIdleConnections()
	return d.process.AwaitReady(ctx, readyDeadline, func(ctx context.Context) error { return ping(ctx, client) })
}

// ping asks the daemon whether it is ready.
func ping(ctx context.Context, client *http.Client) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://docker/_ping", nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return errors.Join(fmt.Errorf("it answers %s", response.Status), response.Body.Close())
	}
	return response.Body.Close()
}

// Stop removes all containers, stops the daemon, ends what else was started with it, and removes what they leave on the machine but
// the daemon's images.
func (d *Daemon) Stop() error {
	err := d.replaceCrashed()
	if err == nil {
		err = d.removeContainers()
	}
	return errors.Join(err, d.clean())
}

// replaceCrashed starts a daemon in the place of one that has crashed: another can remove what that has left.
func (d *Daemon) replaceCrashed() error {
	select {
	case <-d.process.Exited():
	default:
		return nil
	}
	if err := d.removeRemains(); err != nil {
		return err
	}
	return d.launch(context.Background())
}

// removeRemains ends what was started with a daemon that runs no more, its containers first of all, and removes what it had in
// runDir, of which another daemon would take it that it still runs. Containers and networks are kept below d.dir, too, which
// tells the next daemon of them.
func (d *Daemon) removeRemains() error {
	if err := cgroup.Kill(); err != nil {
		return err
	}
	return errors.Join(mount.RecursiveUnmount(runDir), mount.RecursiveUnmount(d.dir), os.RemoveAll(runDir))
}

// removeContainers removes all containers, without which the daemon stops at once, with their volumes and networks, and images
// that have no name any more.
func (d *Daemon) removeContainers() error {
	ids, err := d.docker("ps", "--all", "--quiet")
	if err != nil {
		return err
	}
	if ids != "" {
		if _, err := d.docker(append([]string{"rm", "--force", "--volumes"}, strings.Fields(ids)...)...); err != nil {
			return err
		}
	}
	_, err = d.docker("system", "prune", "--force", "--volumes")
	return err
}

// docker runs the docker command with the daemon and returns what it prints.
func (d *Daemon) docker(args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "docker", args...)
	cmd.Env = append(os.Environ(), d.Env())
	return process.Output(cmd)
}

// clean ends the process, if it runs, and removes what it leaves.
func (d *Daemon) clean() error {
	var errs []error
	if d.process != nil {
		errs = append(errs, d.process.Stop())
	}
	if d.back != nil {
		errs = append(errs, d.back())
	}
	errs = append(errs, d.removeRemains(), cgroup.Remove(), restoreSettings(sysDir, settingsFile))
	return errors.Join(append(errs, d.lock.Unlock())...)
}
