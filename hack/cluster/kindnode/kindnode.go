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
	"time"

	"github.com/gofrs/flock"
	"github.com/moby/sys/mount"

	"loadline.dev/loadline/hack/cluster/controlplane"
	"loadline.dev/loadline/hack/cluster/image"
	"loadline.dev/loadline/hack/cluster/internal/process"
)

// Archive returns the path of an archive, as docker load takes it, of the image [Image]. It is made on the first call, which
// takes some minutes, and kept in dir for all later ones that would make the same. Debian's packages come from mirror, the one
// of this machine's apt if it is empty. log receives what is being done.
//
// An error about what the machine lacks says what to do.
func Archive(ctx context.Context, dir, mirror string, log io.Writer) (string, error) {
	if err := able(); err != nil {
		return "", fmt.Errorf("this machine cannot make the image of a node: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	lock := flock.New(filepath.Join(dir, "lock"))
	if _, err := lock.TryLockContext(ctx, time.Second); err != nil {
		return "", err
	}
	path, err := archive(ctx, dir, mirror, log)
	if err != nil {
		err = fmt.Errorf("make the image of a node: %w", err)
	}
	return path, errors.Join(err, lock.Unlock())
}

// able returns what keeps this machine from making the image.
func able() error {
	if os.Geteuid() != 0 {
		return errors.New("only root can install Debian into a folder")
	}
	if _, err := exec.LookPath("debootstrap"); err != nil {
		return fmt.Errorf("%w (on Debian: apt-get install --no-install-recommends %s)", err, Packages)
	}
	return nil
}

// archive does what Archive says; dir is ours alone.
func archive(ctx context.Context, dir, mirror string, log io.Writer) (string, error) {
	parts, err := gather(ctx, dir, mirror, log)
	if err != nil {
		return "", err
	}
	key, err := parts.key()
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "node-"+key+".tar")
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		return path, err
	}
	if err := removeAll(filepath.Join(dir, "node-*")); err != nil { // those of other keys, and what a killed process left
		return "", err
	}

	begin := time.Now()
	fmt.Fprintf(log, "making the image of a node, %s\n", Image)
	work := filepath.Join(dir, "node-"+key+".partial")
	if err := os.Mkdir(work, 0o755); err != nil {
		return "", err
	}
	made := filepath.Join(work, "archive")
	if err := parts.write(ctx, work, made); err != nil {
		return "", errors.Join(err, os.RemoveAll(work))
	}
	fmt.Fprintf(log, "made it in %.0fs\n", time.Since(begin).Seconds())
	return path, errors.Join(os.Rename(made, path), os.RemoveAll(work))
}

// removeAll removes what a pattern matches, in which debootstrap may have mounted something.
func removeAll(pattern string) error {
	paths, err := filepath.Glob(pattern)
	if err != nil {
		return err
	}
	for _, path := range paths {
		if err := mount.RecursiveUnmount(path); err != nil { // or we would remove what is mounted
			return err
		}
		if err := os.RemoveAll(path); err != nil {
			return err
		}
	}
	return nil
}

// parts are what a node is made of.
type parts struct {
	kind       string   // the folder of kind's module
	debian     string   // the root of a Debian
	kubernetes string   // the version, such as v1.36.3
	programs   []string // folders
	own        string   // the folder of our own programs, pause and podnet
}

// gather finds all parts, and makes those that are missing.
func gather(ctx context.Context, dir, mirror string, log io.Writer) (*parts, error) {
	module, err := controlplane.ModuleFolder(ctx)
	if err != nil {
		return nil, err
	}
	p := &parts{}
	if p.kind, err = kindFolder(ctx, filepath.Join(filepath.Dir(module), "tools")); err != nil {
		return nil, err
	}
	if p.programs, err = programs(ctx, log); err != nil {
		return nil, err
	}
	if p.kubernetes, err = run(ctx, p.program("kubeadm"), "version", "--output=short"); err != nil {
		return nil, err
	}
	if p.own, err = ownPrograms(ctx, module, filepath.Join(dir, "own")); err != nil {
		return nil, err
	}
	p.debian, err = debian(ctx, dir, mirror, log)
	return p, err
}

// own are the names of the programs of this module that a node has.
var own = []string{"pause", "podnet"}

// ownPrograms builds those programs into a folder, which it returns.
func ownPrograms(ctx context.Context, module, dir string) (string, error) {
	for _, name := range own {
		if err := image.BuildProgram(ctx, module, "./"+name, filepath.Join(dir, name)); err != nil {
			return "", err
		}
	}
	return dir, nil
}

// programs returns the folders of the programs that package controlplane builds.
func programs(ctx context.Context, log io.Writer) ([]string, error) {
	controlPlane, err := controlplane.Binaries(ctx, "", log)
	if err != nil {
		return nil, err
	}
	node, err := controlplane.NodeBinaries(ctx, "", log)
	if err != nil {
		return nil, err
	}
	kind, err := controlplane.KindBinaries(ctx, log)
	return []string{controlPlane, node, kind}, err
}

// kindFolder returns the folder of the module of kind that the module in the folder tools pins.
func kindFolder(ctx context.Context, tools string) (string, error) {
	folder, err := run(ctx, "go", "-C", tools, "list", "-m", "-f", "{{.Dir}}", kindModule)
	if err != nil || folder != "" {
		return folder, err
	}
	if _, err := run(ctx, "go", "-C", tools, "mod", "download", kindModule); err != nil {
		return "", err
	}
	return run(ctx, "go", "-C", tools, "list", "-m", "-f", "{{.Dir}}", kindModule)
}

const kindModule = "sigs.k8s.io/kind"

// program returns the path of one of our programs. Where there is no such program, it is one at which there is no file.
func (p *parts) program(name string) (path string) {
	for _, folder := range p.programs {
		path = filepath.Join(folder, name)
		if _, err := os.Stat(path); err == nil {
			break
		}
	}
	return path
}

// key names what would be made: of the same parts, by the same program.
func (p *parts) key() (string, error) {
	hash := sha256.New()
	fmt.Fprintln(hash, p.kind, p.debian, p.kubernetes, p.programs)
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	paths := []string{self}
	for _, name := range own {
		paths = append(paths, filepath.Join(p.own, name))
	}
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			return "", err
		}
		hash.Write(content)
	}
	return fmt.Sprintf("%x", hash.Sum(nil)[:8]), nil
}

// run runs a program and returns what it prints.
func run(ctx context.Context, program string, args ...string) (string, error) {
	return process.Output(exec.CommandContext(ctx, program, args...))
}
