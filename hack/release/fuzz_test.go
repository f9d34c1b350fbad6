package release_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFuzzRunsEveryTargetAndKeepsTheInputsThatFail(t *testing.T) {
	t.Parallel()
	tree := t.TempDir()
	if err := os.CopyFS(tree, os.DirFS("testdata/fuzzed")); err != nil {
		t.Fatal(err)
	}
	output, err := makeNow(t, "fuzz", "FUZZ_IN="+tree, "FUZZTIME=100x").CombinedOutput()
	if err == nil {
		t.Errorf("make succeeds though a target fails:\n%s", output)
	}
	ran := regexp.MustCompile(`(?m)^fuzz (\w+) of `).FindAllStringSubmatch(string(output), -1)
	var names []string
	for _, r := range ran {
		names = append(names, r[1])
	}
	if diff := cmp.Diff([]string{"FuzzFails", "FuzzPasses", "FuzzPassesToo"}, slices.Sorted(slices.Values(names))); diff != "" {
		t.Errorf("targets that ran (-want +got):\n%s\n%s", diff, output)
	}
	if passed := regexp.MustCompile(`(?m)^ok\s`).FindAllString(string(output), -1); len(passed) != 2 {
		t.Errorf("%d targets passed, want 2:\n%s", len(passed), output)
	}
	kept, err := filepath.Glob(filepath.Join(tree, "first", "testdata", "fuzz", "FuzzFails", "*"))
	if err != nil || len(kept) != 1 {
		t.Errorf("the inputs %v are kept, %v, want one:\n%s", kept, err, output)
	}
}

// Those of testdata are not the tree's.
func TestFuzzRefusesTargetsThatThereAreNot(t *testing.T) {
	t.Parallel()
	for _, target := range []string{"NoSuchTarget", "FuzzPassesToo"} {
		output, err := makeNow(t, "fuzz", "FUZZ="+target, "FUZZTIME=1x").CombinedOutput()
		if err == nil || !regexp.MustCompile(`(?m)^no fuzz target is called `+target+`$`).Match(output) {
			t.Errorf("make says %q, %v", output, err)
		}
	}
}
