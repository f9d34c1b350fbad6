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
	"strings"
	"time"

	"loadline.dev/loadline/hack/cluster/controlplane"
	"loadline.dev/loadline/hack/cluster/internal/filelock"
)

// Archive returns the path of an archive, as docker load takes it, of the image [Image]. It is made on the first call, which
// takes some minutes, and kept in dir for all later ones that would make the same. log receives what is being done.
//
// The error lists everything that the machine lacks.
func Archive(ctx context.Context, dir string, log io.Writer) (string, error) {
	if problems := missing(); len(problems) > 0 {
		return "", fmt.Errorf("this machine cannot make images of nodes. It lacks\n  - %s", strings.Join(problems, "\n  - "))
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	lock, err := filelock.Wait(ctx, filepath.Join(dir, "lock"))
	if err != nil {
		return "", err
	}
	path, err := archive(ctx, dir, log)
	if err != nil {
		err = fmt.Errorf("make the image of a node: %w", err)
	}
	return path, errors.Join(err, lock.Unlock())
}

// missing returns everything that keeps this machine from making the image, each as a phrase.
func missing() []string {
	if os.Geteuid() != 0 {
		return []string{"root: only root can install Debian into a folder"}
	}
	if _, err := exec.LookPath("debootstrap"); err != nil {
		return []string{"the program debootstrap (on Debian: apt-get install --no-install-recommends debootstrap)"}
	}
	return nil
}

// archive does what Archive says; dir is ours alone.
func archive(ctx context.Context, dir string, log io.Writer) (string, error) {
	parts, err := gather(ctx, dir, log)
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
	err = parts.write(ctx, work, filepath.Join(work, "archive"))
	if err == nil {
		err = os.Rename(filepath.Join(work, "archive"), path)
	}
	fmt.Fprintf(log, "made it in %.0fs\n", time.Since(begin).Seconds())
	return path, errors.Join(err, os.RemoveAll(work))
}

func removeAll(pattern string) error {
	paths, err := filepath.Glob(pattern)
	for _, path := range paths {
		err = errors.Join(err, os.RemoveAll(path))
	}
	return err
}

// parts are what a node is made of.
type parts struct {
	module     string // the folder of the module hack/cluster
	kind       string // the folder of kind's module
	debian     string // the root of a Debian
	kubernetes string // the version, such as v1.36.3
	programs   []string
}

// gather finds all parts, and makes those that are missing.
func gather(ctx context.Context, dir string, log io.Writer) (*parts, error) {
	module, err := controlplane.ModuleFolder(ctx)
	if err != nil {
		return nil, err
	}
	p := &parts{module: module}
	if p.kind, err = kindFolder(ctx, filepath.Join(filepath.Dir(module), "tools")); err != nil {
		return nil, err
	}
	for _, find := range []func(context.Context, string, io.Writer) (string, error){
		controlplane.Binaries, controlplane.NodeBinaries, controlplane.KindBinaries,
	} {
		folder, err := find(ctx, "", log)
		if err != nil {
			return nil, err
		}
		p.programs = append(p.programs, folder)
	}
	if p.kubernetes, err = run(ctx, p.program("kubeadm"), "version", "--output=short"); err != nil {
		return nil, err
	}
	p.debian, err = debian(ctx, dir, log)
	return p, err
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

// program returns the path of a program that package controlplane builds, or a path where there is none.
func (p *parts) program(name string) string {
	for _, folder := range p.programs {
		path := filepath.Join(folder, name)
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	return filepath.Join(p.programs[0], name)
}

// key names what would be made: of the same parts, by the same program.
func (p *parts) key() (string, error) {
	hash := sha256.New()
	fmt.Fprintln(hash, p.kind, p.debian, p.kubernetes, p.programs)
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	file, err := os.Open(self)
	if err != nil {
		return "", err
	}
	_, err = io.Copy(hash, file)
	return fmt.Sprintf("%x", hash.Sum(nil)[:8]), errors.Join(err, file.Close())
}

// run runs a program and returns what it prints, without the final newline. The error quotes what it says on standard error.
func run(ctx context.Context, program string, args ...string) (string, error) {
	var stderr strings.Builder
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%s", strings.Join(append([]string{filepath.Base(program)}, args...), " "), err, strings.TrimSpace(stderr.String()))
	}
	return strings.TrimSpace(string(out)), nil
}
