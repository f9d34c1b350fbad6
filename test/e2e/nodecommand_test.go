//go:build e2e

package e2e

import (
	"context"
	"flag"
	"os/exec"
	"strings"
	"testing"
)

var nodeCommand = flag.String("node-command", "",
	`command that crashes nodes and brings them back, such as "bin/tools/cluster node": it is run with kill-kubelet, stop or start and the name of a node`)

// noNodeCommand is why tests are skipped.
const noNodeCommand = "nodes can only be crashed where -node-command says how; make e2e gives it"

// onNodes does something to a node: kill-kubelet, stop or start. It also works when
// the test has ended.
func onNodes(t *testing.T, verb, node string) {
	t.Helper()
	words := append(strings.Fields(*nodeCommand), verb, node)
	if out, err := exec.CommandContext(context.WithoutCancel(t.Context()), words[0], words[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", strings.Join(words, " "), err, out)
	}
}
