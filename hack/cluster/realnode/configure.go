//go:build linux

package realnode

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"text/template"

	"golang.org/x/sys/unix"

	"loadline.dev/loadline/hack/cluster/node"
)

//go:embed templates
var templates embed.FS

// settings are what the templates of a node's configuration fill in.
type settings struct {
	Dir           string // of the configuration
	Cgroup        string // of all pods
	Reserved      string // the cores that are not the node's
	Kubelet       string // more of its configuration
	System        bool   // whether it is node system
	AuthorityFile string
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
		Cgroup: "/" + string(ourCgroup.Within(n.name)), Reserved: n.machine.cores.All.Difference(n.cores).String(), Kubelet: node.KubeletSettings,
		AuthorityFile: n.plane.AuthorityFile(), PodNetworks: podNetworks,
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
		if err := os.WriteFile(n.file(file.Name()), content.Bytes(), 0o600); err != nil {
			return err
		}
	}
	if err := n.configureNetwork(); err != nil {
		return err
	}
	if err := n.plane.WriteKubeconfig(n.file("kubelet.kubeconfig"), "system:node:"+n.name, "system:nodes"); err != nil {
		return err
	}
	return n.plane.WriteKubeconfig(n.file("kube-proxy.kubeconfig"), "system:kube-proxy")
}

// configureNetwork writes the configuration of the network plugins.
func (n *Node) configureNetwork() error {
	network, err := node.Network{Pods: podNetwork(n.number)}.Config()
	if err != nil {
		return err
	}
	folder := n.file("cni")
	return errors.Join(os.MkdirAll(folder, 0o755), os.WriteFile(filepath.Join(folder, "loadline.conflist"), network, 0o600))
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
