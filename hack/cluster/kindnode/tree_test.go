//go:build linux

package kindnode

import (
	"archive/tar"
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

func TestWhatDebianStartsAndContainersCannotHaveIsNotInANode(t *testing.T) {
	t.Parallel()
	root := newTree(t)
	for name, kept := range map[string]bool{
		"etc/systemd/system/multi-user.target.wants/containerd.service":           false,
		"etc/systemd/system/containerd.service":                                   true,
		"usr/lib/systemd/system/sockets.target.wants/systemd-udevd-kernel.socket": false,
		"usr/lib/systemd/system/sockets.target.wants/dbus.socket":                 true,
		"var/lib/dpkg/status": true,
		"run/lock/file":       false,
		"tmp/.hidden":         false,
	} {
		must(t, root.write(name, "", 0o644))
		for _, pattern := range unwanted {
			must(t, root.remove(pattern))
		}
		if _, err := root.Stat(name); (err == nil) != kept {
			t.Errorf("%s: %v, want kept %v", name, err, kept)
		}
	}
	if _, err := root.Stat("run"); err != nil {
		t.Errorf("the folder of what a node writes is gone: %v", err)
	}
}

func TestWhatANodeHasTakesThePlaceOfDebians(t *testing.T) {
	t.Parallel()
	root, outside := newTree(t), filepath.Join(t.TempDir(), "outside")
	must(t, os.WriteFile(outside, []byte("this machine's"), 0o600))
	must(t, root.write("etc/config", "Debian's", 0o644))
	must(t, root.write("etc/config", "ours", 0o644))
	must(t, root.copy("usr/bin/program", outside, 0o755))
	must(t, root.symlink("opt/cni/bin", "/usr/lib/cni"))
	must(t, root.symlink("etc/link", outside))
	if err := root.write("etc/link", "ours", 0o644); err == nil {
		t.Error("a file of this machine is written to by a link")
	}
	for name, want := range map[string]string{"etc/config": "ours", "usr/bin/program": "this machine's"} {
		if got, err := root.ReadFile(name); err != nil || string(got) != want {
			t.Errorf("%s is %q, %v, want %q", name, got, err, want)
		}
	}
	if info, err := root.Stat("usr/bin/program"); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("the program has mode %v, %v", info.Mode(), err)
	}
	if target, err := root.Readlink("opt/cni/bin"); err != nil || target != "/usr/lib/cni" {
		t.Errorf("the link leads to %s, %v", target, err)
	}
}

func TestAProgramComesWithAllThatItLinksTo(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can look into a root file system")
	}
	layer := filepath.Join(t.TempDir(), "layer")
	must(t, writeLayer(t.Context(), "/", layer, "usr/bin/en[v]")) // coreutils' is linked to libc, on every distribution
	file, err := os.Open(layer)
	must(t, err)
	defer file.Close()
	names := map[string]byte{}
	for archive := tar.NewReader(file); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		must(t, err)
		names[path.Base(header.Name)] = header.Typeflag
	}
	if names["env"] != tar.TypeReg || names["libc.so.6"] != tar.TypeReg || names["tmp"] != tar.TypeDir {
		t.Errorf("the layer has %v", names)
	}
}

func TestTheProgramOfAnImageIsTheLastPartOfItsName(t *testing.T) {
	t.Parallel()
	for reference, want := range map[string]string{
		"registry.k8s.io/kube-apiserver:v1.36.3": "kube-apiserver", "registry.k8s.io/coredns/coredns:v1.14.2": "coredns", "localhost:5000/etcd": "etcd",
	} {
		if got := programOf(reference); got != want {
			t.Errorf("%s: got %q, want %q", reference, got, want)
		}
	}
}

func TestTheImageOfPodsFirstProcessesIsTheOneThatContainerdNames(t *testing.T) {
	t.Parallel()
	root := newTree(t)
	if _, err := configureContainerd(root); err == nil {
		t.Error("a node without a configuration is accepted")
	}
	must(t, root.write(containerdConfig, "  sandbox_image = \"registry.k8s.io/pause:3.10\"\n  restrict_oom_score_adj = false\n", 0o644))
	sandbox, err := configureContainerd(root)
	if err != nil || sandbox != "registry.k8s.io/pause:3.10" {
		t.Errorf("got %q, %v", sandbox, err)
	}
	if config, err := root.ReadFile(containerdConfig); err != nil || !strings.Contains(string(config), "restrict_oom_score_adj = true") {
		t.Errorf("scores of processes are lowered: %v\n%s", err, config)
	}
	if _, err := configureContainerd(root); err == nil {
		t.Error("a configuration without the line that we change is accepted")
	}
}

func TestPackagesComeFromWhereTheMachineHasThem(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ targets, want string }{
		"a mirror":            {suite + " main http://mirror.example/debian/\n" + suite + "-security main http://mirror.example/security/\n", "http://mirror.example/debian/"},
		"another suite":       {"noble main http://mirror.example/ubuntu/\n", defaultMirror},
		"another component":   {suite + " contrib http://mirror.example/debian/\n", defaultMirror},
		"a list of mirrors":   {suite + " main mirror+file:/etc/apt/mirrors/debian.list\n", defaultMirror},
		"nothing known to it": {"", defaultMirror},
	} {
		if got := mirrorAmong(test.targets); got != test.want {
			t.Errorf("%s: got %s, want %s", name, got, test.want)
		}
	}
}

// newTree returns an empty root file system.
func newTree(t *testing.T) tree {
	t.Helper()
	root, err := os.OpenRoot(t.TempDir())
	must(t, err)
	t.Cleanup(func() { must(t, root.Close()) })
	return tree{root}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
