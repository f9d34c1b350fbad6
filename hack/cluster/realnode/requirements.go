//go:build linux

package realnode

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/moby/sys/capability"

	"loadline.dev/loadline/hack/cluster/internal/cgroupfs"
	"loadline.dev/loadline/hack/cluster/internal/cores"
	"loadline.dev/loadline/hack/cluster/node"
)

// programs are what the packages of a node bring that it runs.
var programs = []string{"containerd", "containerd-shim-runc-v2", "ctr", "runc", "iptables", "iptables-save", "iptables-restore", "ip"}

// pluginFolders are where network plugins (CNI) may be: Debian's first.
var pluginFolders = []string{"/usr/lib/cni", "/opt/cni/bin"}

// plugins are the network plugins that a node uses.
var plugins = []string{"ptp", "host-local", "loopback"}

// missing returns everything that keeps this machine from having real nodes, each as a sentence without a full stop.
func missing(workers int, dir string) []string {
	if os.Geteuid() != 0 {
		return []string{"root: only root can make namespaces and cgroups (whether anything else is missing, root can tell)"}
	}
	var all []string
	if err := capable(); err != nil {
		all = append(all, err.Error())
	}
	var absent []string
	for _, program := range programs {
		if _, err := exec.LookPath(program); err != nil {
			absent = append(absent, program)
		}
	}
	if _, err := pluginFolder(); err != nil {
		absent = append(absent, err.Error())
	}
	if len(absent) > 0 {
		all = append(all, fmt.Sprintf("programs: %s (on Debian: apt-get install %s)", strings.Join(absent, ", "), strings.Join(node.Packages, " ")))
	}
	if controllers, err := cgroupfs.Missing(); err != nil {
		all = append(all, "cgroups: "+err.Error())
	} else if len(controllers) > 0 {
		all = append(all, "cgroup controllers: "+strings.Join(controllers, ", "))
	} else if err := ourCgroup.Writable(); err != nil {
		all = append(all, "cgroups that may be made: "+err.Error())
	}
	if online, err := cores.Online(); err != nil {
		all = append(all, "cores: "+err.Error())
	} else if _, err := cores.Divide(online, workers); err != nil {
		all = append(all, "cores: there are "+err.Error())
	}
	for _, folder := range hidden {
		if inside, err := filepath.Rel(folder, dir); err == nil && inside != ".." && !strings.HasPrefix(inside, "../") {
			all = append(all, fmt.Sprintf("another folder than %s: nodes do not see the machine's %s", dir, folder))
		}
	}
	return all
}

// capable returns what root may not do here that root may: in a container that is often much.
func capable() error {
	own, err := capability.NewPid2(0)
	if err == nil {
		err = own.Load()
	}
	if err != nil {
		return err
	}
	var absent []string
	for _, needed := range []capability.Cap{capability.CAP_SYS_ADMIN, capability.CAP_NET_ADMIN, capability.CAP_SYS_PTRACE} {
		if !own.Get(capability.EFFECTIVE, needed) {
			absent = append(absent, "CAP_"+strings.ToUpper(needed.String()))
		}
	}
	if len(absent) > 0 {
		return fmt.Errorf("capabilities: %s (is this a container? run it with --privileged)", strings.Join(absent, ", "))
	}
	return nil
}

// pluginFolder returns the folder of the network plugins, or an error that names one that is missing.
func pluginFolder() (string, error) {
	var problem error
	for _, folder := range pluginFolders {
		err := hasPlugins(folder)
		if err == nil {
			return folder, nil
		}
		if problem == nil {
			problem = err
		}
	}
	return "", problem
}

func hasPlugins(folder string) error {
	for _, plugin := range plugins {
		if _, err := exec.LookPath(filepath.Join(folder, plugin)); err != nil {
			return errors.New(filepath.Join(folder, plugin))
		}
	}
	return nil
}
