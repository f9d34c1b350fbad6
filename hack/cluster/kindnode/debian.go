//go:build linux

package kindnode

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"loadline.dev/loadline/hack/cluster/node"
)

// suite is the version of Debian: the one whose packages of containerd and runc real nodes are tested with.
const suite = "bookworm"

// defaultMirror is where Debian's packages come from on a machine that does not have them from anywhere itself.
const defaultMirror = "http://deb.debian.org/debian"

// Packages are the Debian packages that this machine needs to make the image.
const Packages = "debootstrap"

// packages are what a node in a container has besides what every Debian has and what every node has: those of kind's Dockerfile,
// without those for storage.
var packages = []string{
	"systemd", "systemd-sysv", "dbus", "conntrack", "ethtool", "util-linux", "mount", "kmod", "ca-certificates", "e2fsprogs", "jq", "procps",
}

// debian returns the folder of a root file system with the packages, below dir, where it is made on the first call, of what the
// mirror has; "" is the one of this machine's apt.
func debian(ctx context.Context, dir, mirror string, log io.Writer) (string, error) {
	want := strings.Join(slices.Concat(node.Packages, packages), ",")
	root := filepath.Join(dir, fmt.Sprintf("debian-%x", sha256.Sum256([]byte(suite+" "+want)))[:len("debian-")+16])
	if _, err := os.Stat(root); !errors.Is(err, os.ErrNotExist) {
		return root, err
	}
	if err := removeAll(filepath.Join(dir, "debian-*")); err != nil { // of other packages, and what a killed process left
		return "", err
	}
	if mirror == "" {
		var err error
		if mirror, err = machinesMirror(ctx); err != nil {
			return "", err
		}
	}
	begin := time.Now()
	fmt.Fprintf(log, "installing Debian's packages from %s into a folder (the first time only, some minutes)\n", mirror)
	partial := root + ".partial"
	if _, err := run(ctx, "debootstrap", "--variant=minbase", "--include="+want, suite, partial, mirror); err != nil {
		if said, logErr := os.ReadFile(filepath.Join(partial, "debootstrap", "debootstrap.log")); logErr == nil {
			err = fmt.Errorf("%w\n%s", err, lastLines(string(said), 10))
		}
		return "", errors.Join(err, removeAll(partial))
	}
	fmt.Fprintf(log, "installed them in %.0fs\n", time.Since(begin).Seconds())
	return root, os.Rename(partial, root)
}

// machinesMirror returns the mirror that this machine's apt has the suite from, or the default one.
func machinesMirror(ctx context.Context) (string, error) {
	if _, err := exec.LookPath("apt-get"); errors.Is(err, exec.ErrNotFound) {
		return defaultMirror, nil
	}
	said, err := run(ctx, "apt-get", "indextargets", "--format", "$(CODENAME) $(COMPONENT) $(REPO_URI)", "Created-By: Packages")
	return mirrorAmong(said), err
}

// mirrorAmong returns the mirror of the suite among those that apt knows, a line with code name, component and address for each,
// or the default one. debootstrap cannot take each kind of address that apt can.
func mirrorAmong(targets string) string {
	for line := range strings.Lines(targets) {
		fields := strings.Fields(line)
		if len(fields) != 3 || fields[0] != suite || fields[1] != "main" {
			continue
		}
		if scheme, _, _ := strings.Cut(fields[2], ":"); scheme == "http" || scheme == "https" || scheme == "file" {
			return fields[2]
		}
	}
	return defaultMirror
}

// lastLines returns the last n lines of a text.
func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// unwanted are the files of Debian, as patterns, that a node does not have: those that kind's Dockerfile removes, so that systemd
// starts nothing that a container cannot have; what this machine has written; what only people read.
var unwanted = []string{
	"usr/lib/systemd/system/sysinit.target.wants/systemd-tmpfiles-setup.service",
	"usr/lib/systemd/system/multi-user.target.wants/*", "usr/lib/systemd/system/local-fs.target.wants/*",
	"usr/lib/systemd/system/basic.target.wants/*", "usr/lib/systemd/system/sockets.target.wants/*udev*",
	"usr/lib/systemd/system/sockets.target.wants/*initctl*", "etc/systemd/system/*.wants/*",
	"etc/machine-id", "etc/hostname", "etc/resolv.conf",
	"dev/*", "proc/*", "sys/*", "run/*", "tmp/*", "debootstrap/*",
	"var/cache/apt/*", "var/lib/apt/lists/*", "var/log/*",
	"usr/share/doc/*", "usr/share/man/*", "usr/share/locale/*", "usr/share/info/*",
}
