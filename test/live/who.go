package live

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"testing"

	"loadline.dev/loadline/pkg/cli"
	"loadline.dev/loadline/pkg/evaluate/findings"
)

// Who returns what kubectl loadline who says of the pods of a namespace.
func Who(t *testing.T, namespace string) *findings.Answer {
	t.Helper()
	args := []string{"who", "--namespace", namespace, "--output", "json"}
	if f := flag.Lookup("kubeconfig"); f != nil && f.Value.String() != "" {
		args = append(args, "--kubeconfig", f.Value.String())
	}
	var out, errs bytes.Buffer
	if code := cli.Run(t.Context(), "e2e", args, cli.Streams{In: bytes.NewReader(nil), Out: &out, Err: &errs}); code != 0 {
		t.Fatalf("kubectl loadline %v: exit code %d: %s", args, code, errs.String())
	}
	answer := &findings.Answer{}
	must(t, json.Unmarshal(out.Bytes(), answer))
	return answer
}

// AwaitFinding waits for a finding about a pod on a node of which something holds.
func (c *Cluster) AwaitFinding(t *testing.T, node, namespace, name string, holds func(*findings.Finding) bool) *findings.Finding {
	t.Helper()
	var found *findings.Finding
	c.Await(t, fmt.Sprintf("a finding about pod %s/%s", namespace, name), Node(node), func() (bool, string) {
		answer := Who(t, namespace)
		for i := range answer.Findings {
			if f := &answer.Findings[i]; f.Pod.Pod == namespace+"/"+name && holds(f) {
				found = f
				return true, ""
			}
		}
		return false, fmt.Sprintf("there are %+v, %+v", answer.Pods, answer.Nodes)
	})
	return found
}
