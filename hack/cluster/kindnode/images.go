//go:build linux

package kindnode

import (
	"context"
	"errors"
	"fmt"
	"os"
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
)

// podnetImage is the image of the program podnet, which files/default-cni.yaml runs.
const podnetImage = "loadline/podnet:dev"

// writeImages writes archives of the images that a node brings along into the folder dir: those that kubeadm asks for, that of
// pods' first processes, and podnet's.
func (p *parts) writeImages(ctx context.Context, dir, sandboxImage string) error {
	said, err := run(ctx, p.program("kubeadm"), "config", "images", "list", "--kubernetes-version", p.kubernetes)
	if err != nil {
		return err
	}
	for reference := range strings.FieldsSeq(said) {
		name := programOf(reference)
		if name == "pause" { // containerd names another, which is below
			continue
		}
		content := tree{}
		if err := p.addProgram(content, name); err != nil {
			return fmt.Errorf("image %s: %w", reference, err)
		}
		config := v1.Config{Env: []string{"PATH=" + searchPath}, Entrypoint: []string{binDir + name}}
		if err := writeImage(filepath.Join(dir, name+".tar"), reference, content, config); err != nil {
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

// searchPath is where the programs of an image are, and binDir where ours is.
const (
	searchPath = "/usr/local/bin:/usr/sbin:/usr/bin"
	binDir     = "/usr/local/bin/"
)

// addProgram adds one of our programs with what it links to, of Debian's, and what else it needs.
func (p *parts) addProgram(content tree, name string) error {
	content.copyFile("usr/local/bin/"+name, p.program(name), 0o755)
	content.folder("tmp", 0o777)
	if err := addLibraries(content, p.debian, p.program(name)); err != nil {
		return err
	}
	if name == "kube-proxy" {
		return addIPTables(content, p.debian)
	}
	return nil
}

// addIPTables adds Debian's iptables, with its extensions.
func addIPTables(content tree, debian string) error {
	const all = "usr/sbin/xtables-nft-multi"
	content.copyFile(all, filepath.Join(debian, all), 0o755)
	for _, family := range []string{"iptables", "ip6tables"} {
		for _, verb := range []string{"", "-save", "-restore"} {
			content.symlink("usr/sbin/"+family+verb, path.Base(all))
		}
	}
	if err := addLibraries(content, debian, filepath.Join(debian, all)); err != nil {
		return err
	}
	extensions, err := filepath.Glob(filepath.Join(debian, "usr", "lib", "*", "xtables", "*.so"))
	if err != nil {
		return err
	}
	for _, extension := range extensions {
		name, err := filepath.Rel(debian, extension)
		if err != nil {
			return err
		}
		content.copyFile(name, extension, 0o644)
		if err := addLibraries(content, debian, extension); err != nil {
			return err
		}
	}
	return nil
}

// writeImage writes the archive of an image whose one layer has a content.
func writeImage(archive, reference string, content tree, config v1.Config) (err error) {
	layer := archive + ".layer"
	file, err := os.Create(layer)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.Remove(layer)) }()
	if err := errors.Join(content.write(file), file.Close()); err != nil {
		return err
	}
	return writeArchive(archive, reference, layer, config)
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
