package main

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadline.dev/loadline/hack/reference/command"
)

func TestEveryProgramIsInTheReference(t *testing.T) {
	t.Parallel()
	folders, err := os.ReadDir(root + "/cmd")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range folders {
		if !slices.ContainsFunc(programs, func(p program) bool { return p.name == f.Name() }) {
			t.Errorf("cmd/%s is not in programs", f.Name())
		}
	}
	if len(programs) != len(folders) {
		t.Errorf("%d programs, and cmd has %d", len(programs), len(folders))
	}
}

func TestDefaultsThatDependOnTheMachineAreToldInWords(t *testing.T) {
	t.Parallel()
	p := program{varying: map[string]string{"parallel": "as many as there are CPUs", "namespace": ""}}
	c := command.Command{Commands: []command.Command{{Flags: []command.Flag{
		{Name: "parallel", Default: "64", Usage: "How many at once."},
		{Name: "namespace", Default: "ci", Usage: "Where. Defaults to its own."},
		{Name: "depth", Default: "3", Usage: "How deep."},
	}}}}
	p.settle(&c)
	want := []command.Flag{
		{Name: "parallel", Usage: "How many at once. (default as many as there are CPUs)"},
		{Name: "namespace", Usage: "Where. Defaults to its own."},
		{Name: "depth", Default: "3", Usage: "How deep."},
	}
	if diff := cmp.Diff(want, c.Commands[0].Flags); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAProgramThatCannotBeAskedSaysWhy(t *testing.T) {
	t.Parallel()
	p := program{name: "loadline-probe", command: "newOrder()"}
	if _, err := p.describe(t.Context(), root); err == nil || !strings.Contains(err.Error(), "undefined: newOrder") {
		t.Errorf("got %v", err)
	}
}
