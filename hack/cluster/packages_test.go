//go:build linux

package main

import (
	"os"
	"strings"
	"testing"

	"loadline.dev/loadline/hack/cluster/dockerd"
	"loadline.dev/loadline/hack/cluster/kindnode"
	"loadline.dev/loadline/hack/cluster/node"
)

func TestTheMakefileInstallsThePackagesThatNodesNeed(t *testing.T) {
	t.Parallel()
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	for variable, want := range map[string]string{
		"NODE_PACKAGES": strings.Join(node.Packages, " "),
		"KIND_PACKAGES": kindnode.Packages + " " + dockerd.Packages,
	} {
		if line := "\n" + variable + " := " + want + "\n"; !strings.Contains(string(makefile), line) {
			t.Errorf("the Makefile has no line %q", line)
		}
	}
}
