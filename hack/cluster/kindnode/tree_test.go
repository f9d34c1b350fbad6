//go:build linux

package kindnode

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestATreeIsWrittenOverARootFileSystem(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for name, content := range map[string]string{"etc/hostname": "machine", "etc/config": "Debian's", "etc/kept": "kept", "usr/share/doc/x/copyright": "long"} {
		write(t, filepath.Join(root, name), content)
	}
	if err := os.Symlink("kept", filepath.Join(root, "etc", "link")); err != nil {
		t.Fatal(err)
	}
	source := filepath.Join(t.TempDir(), "program")
	write(t, source, "program")

	content := tree{}
	content.file("etc/config", "ours", 0o644)
	content.copyFile("opt/bin/program", source, 0o755)
	content.symlink("opt/cni", "/usr/lib/cni")
	content.folder("tmp", 0o777)
	var archive bytes.Buffer
	if err := content.writeOver(&archive, root, unwanted.MatchString); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"etc/": "folder 755", "etc/config": "644 ours", "etc/kept": "644 kept", "etc/link": "-> kept",
		"opt/": "folder 755", "opt/bin/": "folder 755", "opt/bin/program": "755 program", "opt/cni": "-> /usr/lib/cni", "tmp/": "folder 777",
		"usr/": "folder 755", "usr/share/": "folder 755", "usr/share/doc/": "folder 755",
	}
	if diff := cmp.Diff(want, listing(t, &archive)); diff != "" {
		t.Error(diff)
	}
}

func TestWhatDebianStartsAndContainersCannotHaveIsNotInANode(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"etc/systemd/system/multi-user.target.wants/containerd.service":           true,
		"etc/systemd/system/containerd.service":                                   false,
		"usr/lib/systemd/system/sockets.target.wants/systemd-udevd-kernel.socket": true,
		"usr/lib/systemd/system/sockets.target.wants/dbus.socket":                 false,
		"var/lib/dpkg/status": false,
		"dev/null":            true,
		"dev":                 false,
	} {
		if got := unwanted.MatchString(name); got != want {
			t.Errorf("%s: left out %v, want %v", name, got, want)
		}
	}
}

func TestAProgramComesWithAllThatItLinksTo(t *testing.T) {
	t.Parallel()
	content := tree{}
	if err := addLibraries(content, "/", "/usr/bin/env"); err != nil { // coreutils' is linked to libc, on every distribution
		t.Fatal(err)
	}
	var libc, linker bool
	for name, entry := range content {
		libc = libc || filepath.Base(name) == "libc.so.6"
		linker = linker || strings.HasPrefix(filepath.Base(name), "ld-linux")
		if info, err := os.Lstat(entry.source); err != nil || !info.Mode().IsRegular() {
			t.Errorf("%s is copied from %s, which is not a file: %v", name, entry.source, err)
		}
	}
	if !libc || !linker {
		t.Errorf("libc %v, dynamic linker %v, of %d files", libc, linker, len(content))
	}
}

func TestLinksOfARootFileSystemStayInIt(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	write(t, filepath.Join(root, "usr", "lib", "libx.so.1.2"), "")
	for link, target := range map[string]string{"lib": "usr/lib", "usr/lib/libx.so.1": "/lib/libx.so.1.2", "loop": "loop"} {
		if err := os.Symlink(target, filepath.Join(root, link)); err != nil {
			t.Fatal(err)
		}
	}
	got, err := resolve(root, "/lib/libx.so.1")
	if want := filepath.Join(root, "usr", "lib", "libx.so.1.2"); err != nil || got != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
	if _, err := resolve(root, "/loop"); err == nil || !strings.Contains(err.Error(), "too many symbolic links") {
		t.Errorf("a loop gives %v", err)
	}
	if _, err := resolve(root, "/lib/missing"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file gives %v", err)
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
	content := tree{}
	content.file(containerdConfig, "  sandbox_image = \"registry.k8s.io/pause:3.10\"\n  restrict_oom_score_adj = false\n", 0o644)
	sandbox, err := configureContainerd(content)
	if err != nil || sandbox != "registry.k8s.io/pause:3.10" {
		t.Errorf("got %q, %v", sandbox, err)
	}
	if config := string(content[containerdConfig].content); !strings.Contains(config, "restrict_oom_score_adj = true") {
		t.Errorf("scores of processes are lowered:\n%s", config)
	}
	if _, err := configureContainerd(tree{}); err == nil {
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

// write writes a file and the folders above it.
func write(t *testing.T, path, content string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o644)); err != nil {
		t.Fatal(err)
	}
}

// listing returns what is in an archive: what each entry is, its mode and its content. Docker takes no path twice.
func listing(t *testing.T, archive io.Reader) map[string]string {
	t.Helper()
	all := map[string]string{}
	for reader := tar.NewReader(archive); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(reader)
		if err != nil {
			t.Fatal(err)
		}
		if _, twice := all[header.Name]; twice {
			t.Errorf("%s is there twice", header.Name)
		}
		mode := header.FileInfo().Mode().Perm()
		switch header.Typeflag {
		case tar.TypeDir:
			all[header.Name] = "folder " + fmt.Sprintf("%o", mode)
		case tar.TypeSymlink:
			all[header.Name] = "-> " + header.Linkname
		default:
			all[header.Name] = fmt.Sprintf("%o", mode) + " " + string(content)
		}
	}
}
