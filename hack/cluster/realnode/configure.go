//go:build linux

package realnode

import (
	"bytes"
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"text/template"

	"golang.org/x/sys/unix"
)

//go:embed templates
var templates embed.FS

// settings are what the templates of a node's configuration fill in.
type settings struct {
	Dir           string // of the configuration
	Cgroup        string // of all pods
	Reserved      string // the cores that are not the node's
	System        bool   // whether it is node system
	AuthorityFile string
	PodNetwork    string
	PodNetworks   string // of all nodes
	Name          string
	PauseImage    string
	PluginFolder  string
	Snapshotter   string
}

// configure writes the configuration of the node's programs.
func (n *Node) configure() error {
	plugins, err := pluginFolder()
	if err != nil {
		return err
	}
	snapshotter, err := snapshotter(n.dir)
	if err != nil {
		return err
	}
	values := settings{
		Dir: n.dir, Name: n.name, System: n.name == SystemNode,
		Cgroup: "/" + ourCgroup + "/" + n.name, Reserved: n.machine.cores.All.Difference(n.cores).String(),
		AuthorityFile: n.plane.AuthorityFile(),
		PodNetwork:    podNetwork(n.number), PodNetworks: podNetworks,
		PauseImage: PauseImage, PluginFolder: plugins, Snapshotter: snapshotter,
	}
	parsed, err := template.ParseFS(templates, "templates/*")
	if err != nil {
		return err
	}
	for _, file := range parsed.Templates() {
		var content bytes.Buffer
		if err := file.Execute(&content, values); err != nil {
			return err
		}
		path := n.file(file.Name())
		if filepath.Ext(path) == ".conflist" {
			path = filepath.Join(n.dir, "cni", file.Name())
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, content.Bytes(), 0o600); err != nil {
			return err
		}
	}
	if err := n.plane.WriteKubeconfig(n.file("kubelet.kubeconfig"), "system:node:"+n.name, "system:nodes"); err != nil {
		return err
	}
	return n.plane.WriteKubeconfig(n.file("kube-proxy.kubeconfig"), "system:kube-proxy")
}

// snapshotter returns how containerd can keep the files of containers in a folder: an overlay cannot be on an overlay,
// which is what the files of a container are.
func snapshotter(dir string) (string, error) {
	var filesystem unix.Statfs_t
	if err := unix.Statfs(dir, &filesystem); err != nil {
		return "", fmt.Errorf("%s: %w", dir, err)
	}
	if filesystem.Type == unix.OVERLAYFS_SUPER_MAGIC {
		return "native", nil
	}
	return "overlayfs", nil
}
