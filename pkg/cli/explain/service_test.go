package explain_test

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"loadline.dev/loadline/pkg/cli/clitest"
	"loadline.dev/loadline/pkg/evaluate/explanation"
)

func TestAWorkCounterSaysHowMuchSlowerThePodServesAndBesideWhom(t *testing.T) {
	t.Parallel()
	folder := filepath.Join("..", "..", "..", "docs", "examples", "who")
	arguments := []string{
		"explain", "pod", "api-5d8b6-q7w2z", "-n", "web", "--nodes",
		"-f", filepath.Join(folder, "cluster.yaml"), "-f", filepath.Join(folder, "work.yaml"), "-f", "-",
	}
	const more = `{apiVersion: v1, kind: Node, metadata: {name: node-4}, status: {allocatable: {cpu: "2", pods: "110"}}}
---
apiVersion: v1
kind: Pod
metadata: {name: train-0, namespace: ml, uid: train-0, ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: train, uid: x, controller: true}]}
spec: {nodeName: node-4, containers: [{name: main}]}
`
	code, stdout, stderr := clitest.Run(t, more, arguments...)
	for _, want := range []string{
		"Each request takes 1.23 times as much CPU time as when quiet, by its work counter; +0.21 of that beside StatefulSet ml/train. That is not part of the dilation.\n",
		"served slower beside StatefulSet ml/train\n",
	} {
		if code != 0 || stderr != "" || strings.Count(stdout, want) != 1 {
			t.Errorf("exit code %d, errors %q: %q is not once in\n%s", code, stderr, want, stdout)
		}
	}
	_, stdout, _ = clitest.Run(t, more, append(arguments, "-o", "json")...)
	var e explanation.Answer
	if err := json.Unmarshal([]byte(stdout), &e); err != nil {
		t.Fatal(err)
	}
	if e.Service == nil || e.Service.Inflation != 1.23 || e.Service.Adds != 0.21 || !slices.Equal(e.Service.Beside, []string{"StatefulSet ml/train"}) {
		t.Errorf("%+v", e.Service)
	}
	for _, n := range e.Nodes {
		if beside := n.Node == "node-2" || n.Node == "node-4"; beside != slices.Equal(n.SlowerBeside, []string{"StatefulSet ml/train"}) {
			t.Errorf("%s: beside %q", n.Node, n.SlowerBeside)
		}
	}
}
