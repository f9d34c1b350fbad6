//go:build linux

package kindnode

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"loadline.dev/loadline/hack/cluster/node"
)

// Image is the name of a node's image.
const Image = "loadline/kind-node:dev"

var (
	//go:embed files/load-images.service
	loadImages string
	//go:embed files/default-cni.yaml
	defaultCNI string
)

// write writes the archive of a node's image. It may leave other files in the folder work.
func (p *parts) write(ctx context.Context, work, archive string) error {
	content, err := p.content(ctx, filepath.Join(work, "images"))
	if err != nil {
		return err
	}
	layer := filepath.Join(work, "layer")
	file, err := os.Create(layer)
	if err != nil {
		return err
	}
	if err := errors.Join(content.writeOver(file, p.debian, unwanted.MatchString), file.Close()); err != nil {
		return err
	}
	return writeArchive(archive, Image, layer, v1.Config{
		Env:        []string{"container=docker", "PATH=" + node.SearchPath}, // the first tells systemd where it is
		Entrypoint: []string{"/usr/local/bin/entrypoint", "/sbin/init"},
		StopSignal: "SIGRTMIN+3", // upon which systemd ends
	})
}

// content returns what a node has beyond Debian. The archives of its images are made in the folder images.
func (p *parts) content(ctx context.Context, images string) (tree, error) {
	content := tree{}
	if err := p.addKindFiles(content); err != nil {
		return nil, err
	}
	sandbox, err := configureContainerd(content)
	if err != nil {
		return nil, err
	}
	if err := p.addRuntimeSpec(ctx, content); err != nil {
		return nil, err
	}
	for _, name := range []string{"kubeadm", "kubelet", "kubectl"} {
		content.copyFile("usr/bin/"+name, p.program(name), 0o755)
	}
	content.symlink("usr/local/bin/containerd", "/usr/bin/containerd") // where kind's unit has it
	content.symlink("opt/cni/bin", "/usr/lib/cni")
	content.folder("etc/kubernetes/manifests", 0o755)
	content.file("etc/systemd/journald.conf.d/kind.conf", "[Journal]\nReadKMsg=no\n", 0o644)
	content.file("kind/version", p.kubernetes, 0o644)
	content.file("kind/manifests/default-cni.yaml", defaultCNI, 0o644)

	const units = "etc/systemd/system/"
	content.file(units+"load-images.service", loadImages, 0o644)
	for _, unit := range []string{"kubelet", "containerd", "undo-mount-hacks", "load-images"} {
		content.symlink(units+"multi-user.target.wants/"+unit+".service", "/"+units+unit+".service")
	}
	content.symlink(units+"systemd-binfmt.service", "/dev/null") // what it would register is the machine's
	return content, p.addImages(ctx, content, images, sandbox)
}

// addKindFiles adds the files of kind's own images.
func (p *parts) addKindFiles(content tree) error {
	files := filepath.Join(p.kind, "images", "base", "files")
	return filepath.WalkDir(files, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(files, path)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		mode := fs.FileMode(0o644)
		if strings.HasPrefix(name, "usr/local/bin/") || strings.HasPrefix(name, "kind/bin/") { // a module has no modes
			mode = 0o755
		}
		content.file(name, string(text), mode)
		return nil
	})
}

// containerdConfig is where containerd's configuration is.
const containerdConfig = "etc/containerd/config.toml"

// configureContainerd has containerd leave alone what the kernel may not let it lower, and returns the image of pods' first
// processes.
func configureContainerd(content tree) (sandbox string, err error) {
	const lowers, restricted = "restrict_oom_score_adj = false", "restrict_oom_score_adj = true"
	config := string(content[containerdConfig].content)
	if !strings.Contains(config, lowers) {
		return "", fmt.Errorf("/%s of kind's module has no line %q", containerdConfig, lowers)
	}
	content.file(containerdConfig, strings.Replace(config, lowers, restricted, 1), 0o644)
	return sandboxImage(config)
}

// addRuntimeSpec adds what containers of pods have in common, as kind's Dockerfile makes it: what containerd says, without
// limits of resources, with a hook that hides which machine this is.
func (p *parts) addRuntimeSpec(ctx context.Context, content tree) error {
	said, err := run(ctx, "chroot", p.debian, "ctr", "oci", "spec")
	if err != nil {
		return err
	}
	var spec map[string]any
	if err := json.Unmarshal([]byte(said), &spec); err != nil {
		return fmt.Errorf("what \"ctr oci spec\" says: %w", err)
	}
	process, ok := spec["process"].(map[string]any)
	if !ok {
		return errors.New("what \"ctr oci spec\" says has no process")
	}
	delete(process, "rlimits")
	spec["hooks"] = map[string]any{"createContainer": []any{map[string]any{"path": "/kind/bin/mount-product-files.sh"}}}
	text, err := json.Marshal(spec)
	if err != nil {
		return err
	}
	content.file("etc/containerd/cri-base.json", string(text), 0o644)
	return nil
}

// addImages makes archives of images in the folder dir and adds them, where load-images.service looks for them.
func (p *parts) addImages(ctx context.Context, content tree, dir, sandbox string) error {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	if err := p.writeImages(ctx, dir, sandbox); err != nil {
		return err
	}
	archives, err := filepath.Glob(filepath.Join(dir, "*.tar"))
	if err != nil {
		return err
	}
	for _, archive := range archives {
		content.copyFile("kind/images/"+filepath.Base(archive), archive, 0o644)
	}
	return nil
}
