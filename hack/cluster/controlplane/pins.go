package controlplane

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"loadline.dev/loadline/hack/cluster/internal/process"
)

// clusterModule is the module that this package belongs to; the pins are modules of their own in its folder
// "binaries".
const clusterModule = "loadline.dev/loadline/hack/cluster"

// defaultModule is the folder of the module that pins etcd, kwok and the default version of Kubernetes, in that of our module. In
// its folder are one for the nodes of that version, "node", one for all of each other version, such as "v1.34", and CoreDNS'.
const defaultModule = "binaries"

// moduleOf returns the folder of the module that pins a minor version of Kubernetes, such as 1.34: own where it is the
// default, or "". The error names the versions that there are.
func moduleOf(ctx context.Context, kubernetes, own string) (string, error) {
	if kubernetes == "" {
		return own, nil
	}
	versions, err := Versions(ctx)
	if err != nil {
		return "", err
	}
	switch i := slices.Index(versions, kubernetes); i {
	case -1:
		return "", fmt.Errorf("version %q of Kubernetes: is not one of %s", kubernetes, strings.Join(versions, ", "))
	case 0:
		return own, nil
	default:
		return filepath.Join(defaultModule, "v"+kubernetes), nil
	}
}

// Versions returns the minor versions of Kubernetes of which there can be a control plane and real nodes, the default first.
func Versions(ctx context.Context) ([]string, error) {
	pins, err := findPins(ctx, defaultModule)
	if err != nil {
		return nil, err
	}
	version, err := pins.module(ctx, "{{.Version}}", kubernetesModule)
	if err != nil {
		return nil, err
	}
	major, minor, err := parseVersion(version)
	if err != nil {
		return nil, err
	}
	versions := []string{major + "." + minor}
	others, err := filepath.Glob(filepath.Join(string(pins), "v*", "go.mod"))
	if err != nil {
		return nil, err
	}
	for _, other := range others {
		versions = append(versions, strings.TrimPrefix(filepath.Base(filepath.Dir(other)), "v"))
	}
	return versions, nil
}

// Chosen returns the minor version of which a control plane is where [Options] do not say.
func Chosen(ctx context.Context) (string, error) {
	if version := chosen(""); version != "" {
		return version, nil
	}
	versions, err := Versions(ctx)
	if err != nil {
		return "", err
	}
	return versions[0], nil
}

// kubernetesModule is the module of Kubernetes' programs.
const kubernetesModule = "k8s.io/kubernetes"

// parseVersion returns the parts of a version such as v1.36.3 that Kubernetes calls major and minor.
func parseVersion(version string) (major, minor string, err error) {
	parts := strings.Split(strings.TrimPrefix(version, "v"), ".")
	if len(parts) < 3 {
		return "", "", fmt.Errorf("the version of %s, %q, is not like v1.2.3", kubernetesModule, version)
	}
	return parts[0], parts[1], nil
}

// buildFlags change nothing of how packages are compiled. So those that our own programs and tests are made of, which are
// many and of the same versions, are compiled once for all.
var buildFlags = []string{"-mod=readonly", "-buildvcs=false"}

// stripFlags leave out of programs what only debuggers read.
const stripFlags = "-s -w"

// linkerFlags make Kubernetes' programs report version: without that, kubectl and helm cannot parse what the server says.
func linkerFlags(version string) (string, error) {
	major, minor, err := parseVersion(version)
	if err != nil {
		return "", err
	}
	const pkg = "k8s.io/component-base/version"
	return fmt.Sprintf(stripFlags+" -X %[1]s.gitVersion=%[2]s -X %[1]s.gitMajor=%[3]s -X %[1]s.gitMinor=%[4]s", pkg, version, major, minor), nil
}

// pins is the folder of a module that pins the programs' versions.
type pins string

// findPins finds the pins in a folder of our module.
func findPins(ctx context.Context, module string) (pins, error) {
	folder, err := ModuleFolder(ctx)
	if err != nil {
		return "", err
	}
	dir := filepath.Join(folder, module)
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); err != nil {
		return "", fmt.Errorf("the module that pins the binaries is missing: %w", err)
	}
	return pins(dir), nil
}

// ModuleFolder returns the folder of the module hack/cluster: found from any module that requires it, or else where
// this file was compiled.
func ModuleFolder(ctx context.Context) (string, error) {
	folder, err := runGo(ctx, "", nil, "list", "-m", "-f", "{{.Dir}}", clusterModule)
	if err != nil {
		_, file, _, ok := runtime.Caller(0)
		if !ok || !filepath.IsAbs(file) { // not absolute: built with -trimpath
			return "", fmt.Errorf("the working directory must belong to a Go module that requires %s: %w", clusterModule, err)
		}
		folder = filepath.Dir(filepath.Dir(file))
	}
	return folder, nil
}

// module returns what a template for "go list -m" says of a module among the pins. It has a folder once something of
// it has been built.
func (p pins) module(ctx context.Context, template, path string) (string, error) {
	return p.run(ctx, "list", "-m", "-f", template, path)
}

// run runs the go command among the pins, without the GOFLAGS of the module that asks.
func (p pins) run(ctx context.Context, args ...string) (string, error) {
	return runGo(ctx, string(p), []string{"GOWORK=off", "GOFLAGS="}, args...)
}

// runGo runs the go command in dir and returns what it prints.
func runGo(ctx context.Context, dir string, env []string, args ...string) (string, error) {
	const interruptGrace = 10 * time.Second

	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	cmd.SysProcAttr = process.Attributes()
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGINT) } // upon which go cleans up after itself
	cmd.WaitDelay = interruptGrace

	runtime.LockOSThread() // see process.Attributes
	defer runtime.UnlockOSThread()
	said, err := process.Output(cmd)
	if cause := context.Cause(ctx); cause != nil {
		return "", cause
	}
	return said, err
}
