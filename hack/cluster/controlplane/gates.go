package controlplane

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"

	"loadline.dev/loadline/hack/cluster/internal/process"
)

// FeatureGates returns the names of the feature gates that kube-apiserver has, of a version of Kubernetes as [Options] has it. One that
// is not among them keeps it from starting. It builds the programs as [Binaries] does.
func FeatureGates(ctx context.Context, kubernetes string) ([]string, error) {
	dir, err := Binaries(ctx, chosen(kubernetes), nil)
	if err != nil {
		return nil, err
	}
	help := exec.CommandContext(ctx, filepath.Join(dir, apiServerName), "--help")
	help.SysProcAttr = process.Attributes()
	runtime.LockOSThread() // see process.Attributes
	defer runtime.UnlockOSThread()
	text, err := help.Output()
	if err != nil {
		return nil, fmt.Errorf("ask %s for its feature gates: %w", apiServerName, err)
	}
	return gatesOf(text), nil
}

// gate is a line about a feature gate in the help of a program of Kubernetes, such as
// "kube:GenericWorkload=true|false (ALPHA - default=false)".
var gate = regexp.MustCompile(`(?m)(?:^|\s)(?:kube:)?([A-Z]\w+)=true\|false \(`)

func gatesOf(help []byte) (names []string) {
	for _, match := range gate.FindAllSubmatch(help, -1) {
		names = append(names, string(match[1]))
	}
	return names
}
