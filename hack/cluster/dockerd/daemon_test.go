//go:build e2e && linux

package dockerd

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"loadline.dev/loadline/hack/cluster/image"
)

// As root, with the Debian packages that [Packages] names.
func TestADaemonLeavesNothingOnTheMachine(t *testing.T) { //nolint:paralleltest // one daemon at a time, and it looks at all of the machine
	dir := t.TempDir()
	for name, end := range map[string]func(*testing.T, *Daemon) *Daemon{
		"when it is stopped": func(_ *testing.T, d *Daemon) *Daemon { return d },
		"when it was killed": func(t *testing.T, d *Daemon) *Daemon {
			kill(t, d)
			return d
		},
		"when its process and it were killed, and another follows": func(t *testing.T, d *Daemon) *Daemon {
			kill(t, d)
			must(t, d.lock.Unlock()) // as the kernel does
			must(t, d.back())
			d, err := Start(t.Context(), dir)
			must(t, err)
			if left, err := d.docker("ps", "--all", "--quiet"); err != nil || left != "" {
				t.Errorf("the other one begins with containers: %s, %v", left, err)
			}
			return d
		},
	} {
		t.Run(name, func(t *testing.T) {
			before := interfaces(t)
			d, err := Start(t.Context(), dir)
			must(t, err)
			runContainer(t, d)
			must(t, end(t, d).Stop())

			if processes, err := filepath.Glob("/sys/fs/cgroup/*/" + string(cgroup)); err != nil || len(processes) > 0 {
				t.Errorf("cgroups: %v, %v", processes, err)
			}
			if _, err := os.Stat(runDir); !os.IsNotExist(err) {
				t.Errorf("%s is there: %v", runDir, err)
			}
			if after := interfaces(t); after != before {
				t.Errorf("network interfaces: %s, before: %s", after, before)
			}
		})
	}
}

// runContainer runs a container in a network.
func runContainer(t *testing.T, d *Daemon) {
	t.Helper()
	dir := t.TempDir()
	binary, archive := filepath.Join(dir, "pause"), filepath.Join(dir, "pause.tar")
	must(t, image.BuildProgram(t.Context(), "..", "./pause", binary))
	must(t, image.WriteFile(archive, "loadline/pause:test", binary))
	for _, args := range [][]string{
		{"load", "--input", archive},
		{"network", "create", "loadline-test"},
		{"run", "--detach", "--privileged", "--restart", "always", "--network", "loadline-test", "loadline/pause:test"},
	} {
		_, err := d.docker(args...)
		must(t, err)
	}
	running, err := d.docker("ps", "--quiet")
	must(t, err)
	pid, err := d.docker("inspect", "--format", "{{.State.Pid}}", running)
	must(t, err)
	of, err := os.ReadFile("/proc/" + pid + "/cgroup")
	must(t, err)
	if strings.Contains(string(of), programs) {
		t.Errorf("the container is within the daemon's cgroup, not beside it:\n%s", of)
	}
}

// kill kills the daemon, and returns when it is gone.
func kill(t *testing.T, d *Daemon) {
	t.Helper()
	must(t, syscall.Kill(d.process.PID(), syscall.SIGKILL))
	<-d.process.Exited()
}

// interfaces returns the names of the machine's network interfaces.
func interfaces(t *testing.T) string {
	t.Helper()
	all, err := net.Interfaces()
	must(t, err)
	var names []string
	for i := range all {
		names = append(names, all[i].Name)
	}
	return strings.Join(names, " ")
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
