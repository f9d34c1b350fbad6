//go:build linux

package kindnode

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"loadline.dev/loadline/hack/cluster/image"
	"loadline.dev/loadline/hack/cluster/node"
)

// podnetImage is the image of the program podnet, which files/default-cni.yaml runs.
const podnetImage = "loadline/podnet:dev"

// writeImages writes archives of the images that a node brings along into the folder dir: those that kubeadm asks for, that of
// pods' first processes, and podnet's.
func (p *parts) writeImages(ctx context.Context, root tree, dir, sandboxImage string) error {
	said, err := run(ctx, p.program("kubeadm"), "config", "images", "list", "--kubernetes-version", p.kubernetes)
	if err != nil {
		return err
	}
	for reference := range strings.FieldsSeq(said) {
		name := programOf(reference)
		if name == "pause" { // containerd names another, which is below
			continue
		}
		if err := p.writeImage(ctx, root, filepath.Join(dir, name+".tar"), reference, name); err != nil {
			return fmt.Errorf("image %s: %w", reference, err)
		}
	}
	for name, reference := range map[string]string{"pause": sandboxImage, "podnet": podnetImage} {
		if err := image.WriteFile(filepath.Join(dir, name+".tar"), reference, filepath.Join(p.own, name)); err != nil {
			return err
		}
	}
	return nil
}

// programOf returns the name of an image's program: the last part of the image's, without its tag.
func programOf(reference string) string {
	name, _, _ := strings.Cut(path.Base(reference), ":")
	return name
}

// binDir is where an image has its program.
const binDir = "usr/local/bin/"

// writeImage writes the archive of the image of one of our programs, which is in the tree meanwhile.
func (p *parts) writeImage(ctx context.Context, root tree, archive, reference, name string) (err error) {
	program := binDir + name
	if err := root.copy(program, p.program(name), 0o755); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Remove(program)) }()
	files := []string{program}
	if name == "kube-proxy" {
		files = append(files, "usr/sbin/ip*tables", "usr/sbin/ip*tables-save", "usr/sbin/ip*tables-restore", "usr/lib/*/xtables/*.so")
	}
	layer := archive + ".layer"
	if err := writeLayer(ctx, root.Name(), layer, files...); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.Remove(layer)) }()
	return writeArchive(archive, reference, layer, v1.Config{Env: []string{"PATH=" + node.SearchPath}, Entrypoint: []string{"/" + program}})
}

// writeLayer writes an archive of the programs and libraries in the root file system root that fit patterns, and of what they link
// to. Static programs link to nothing, of which ldd says that it is an error.
func writeLayer(ctx context.Context, root, layer string, patterns ...string) error {
	const script = `cd /; linked=$(ldd $0 2>&1 | sed -n 's|.*[[:space:]]/\([^ ]*\) (0x.*|\1|p' | sort -u)
		tar --create --dereference --no-recursion tmp $0 $linked`
	file, err := os.Create(layer)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "chroot", root, "sh", "-euc", script, strings.Join(patterns, " "))
	var stderr strings.Builder
	cmd.Stdout, cmd.Stderr = file, &stderr
	if err := errors.Join(cmd.Run(), file.Close()); err != nil {
		return fmt.Errorf("archive %s: %w\n%s", patterns, err, strings.TrimSpace(stderr.String()))
	}
	return nil
}

// writeArchive writes the archive of an image whose one layer is the archive at the path layer.
func writeArchive(archive, reference, layer string, config v1.Config) error {
	tag, err := name.NewTag(reference)
	if err != nil {
		return err
	}
	files, err := tarball.LayerFromFile(layer)
	if err != nil {
		return err
	}
	img, err := mutate.ConfigFile(empty.Image, &v1.ConfigFile{OS: "linux", Architecture: runtime.GOARCH, RootFS: v1.RootFS{Type: "layers"}, Config: config})
	if err != nil {
		return err
	}
	if img, err = mutate.AppendLayers(img, files); err != nil {
		return err
	}
	return tarball.WriteToFile(archive, tag, img)
}

// sandboxImage returns the image of pods' first processes, as a configuration of containerd names it.
func sandboxImage(config string) (string, error) {
	match := regexp.MustCompile(`(?m)^\s*sandbox_image\s*=\s*"([^"]+)"`).FindStringSubmatch(config)
	if match == nil {
		return "", errors.New("containerd's configuration in kind's module names no sandbox_image")
	}
	return match[1], nil
}
