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
	folder := filepath.Join(work, "root")
	if _, err := run(ctx, "cp", "--archive", p.debian, folder); err != nil {
		return err
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	if err := errors.Join(p.complete(ctx, tree{root}, filepath.Join(work, "images")), root.Close()); err != nil {
		return err
	}
	layer := filepath.Join(work, "layer")
	if _, err := run(ctx, "tar", "--create", "--file", layer, "--directory", folder, "--numeric-owner", "."); err != nil {
		return err
	}
	return writeArchive(archive, Image, layer, v1.Config{
		Env:        []string{"container=docker", "PATH=" + node.SearchPath}, // the first tells systemd where it is
		Entrypoint: []string{"/usr/local/bin/entrypoint", "/sbin/init"},
		StopSignal: "SIGRTMIN+3", // upon which systemd ends
	})
}

// complete makes a node of a root file system of Debian. The archives of its images are made in the folder images.
func (p *parts) complete(ctx context.Context, root tree, images string) error {
	if err := p.addKindFiles(root); err != nil {
		return err
	}
	sandbox, err := configureContainerd(root)
	if err != nil {
		return err
	}
	if err := addRuntimeSpec(ctx, root); err != nil {
		return err
	}
	if err := p.addImages(ctx, root, images, sandbox); err != nil {
		return err
	}
	for _, pattern := range unwanted {
		if err := root.remove(pattern); err != nil {
			return err
		}
	}
	for _, name := range []string{"kubeadm", "kubelet", "kubectl"} {
		if err := root.copy("usr/bin/"+name, p.program(name), 0o755); err != nil {
			return err
		}
	}
	return errors.Join(
		root.symlink("usr/local/bin/containerd", "/usr/bin/containerd"), // where kind's unit has it
		root.symlink("opt/cni/bin", "/usr/lib/cni"),
		root.MkdirAll("etc/kubernetes/manifests", 0o755),
		root.write("etc/systemd/journald.conf.d/kind.conf", "[Journal]\nReadKMsg=no\n", 0o644),
		root.write("kind/version", p.kubernetes, 0o644),
		root.write("kind/manifests/default-cni.yaml", defaultCNI, 0o644),
		addUnits(root),
	)
}

// addUnits has systemd start what a node runs.
func addUnits(root tree) error {
	const units = "etc/systemd/system/"
	err := errors.Join(
		root.write(units+"load-images.service", loadImages, 0o644),
		root.symlink(units+"systemd-binfmt.service", "/dev/null"), // what it would register is the machine's
	)
	for _, unit := range []string{"kubelet", "containerd", "undo-mount-hacks", "load-images"} {
		err = errors.Join(err, root.symlink(units+"multi-user.target.wants/"+unit+".service", "/"+units+unit+".service"))
	}
	return err
}

// addKindFiles adds the files of kind's own images.
func (p *parts) addKindFiles(root tree) error {
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
		return root.write(name, string(text), mode)
	})
}

// containerdConfig is where containerd's configuration is.
const containerdConfig = "etc/containerd/config.toml"

// configureContainerd has containerd leave alone what the kernel may not let it lower, and returns the image of pods' first
// processes.
func configureContainerd(root tree) (sandbox string, err error) {
	const lowers, restricted = "restrict_oom_score_adj = false", "restrict_oom_score_adj = true"
	config, err := root.ReadFile(containerdConfig)
	if err != nil {
		return "", err
	}
	if !strings.Contains(string(config), lowers) {
		return "", fmt.Errorf("/%s of kind's module has no line %q", containerdConfig, lowers)
	}
	if err := root.write(containerdConfig, strings.Replace(string(config), lowers, restricted, 1), 0o644); err != nil {
		return "", err
	}
	return sandboxImage(string(config))
}

// addRuntimeSpec adds what containers of pods have in common, as kind's Dockerfile makes it: what containerd says, without
// limits of resources, with a hook that hides which machine this is.
func addRuntimeSpec(ctx context.Context, root tree) error {
	said, err := run(ctx, "chroot", root.Name(), "ctr", "oci", "spec")
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
	return root.write("etc/containerd/cri-base.json", string(text), 0o644)
}

// addImages makes archives of images in the folder dir and adds them, where load-images.service looks for them.
func (p *parts) addImages(ctx context.Context, root tree, dir, sandbox string) error {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	if err := p.writeImages(ctx, root, dir, sandbox); err != nil {
		return err
	}
	archives, err := filepath.Glob(filepath.Join(dir, "*.tar"))
	if err != nil {
		return err
	}
	for _, archive := range archives {
		if err := root.copy("kind/images/"+filepath.Base(archive), archive, 0o644); err != nil {
			return err
		}
	}
	return nil
}
