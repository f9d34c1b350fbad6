package main

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// code is a repository with a file per folder that imports some of the others.
func code(imports map[string][]string) fstest.MapFS {
	files := fstest.MapFS{}
	for _, top := range []string{"apis", "cmd", "config", "pkg"} {
		files[top+"/README"] = &fstest.MapFile{}
	}
	for folder, others := range imports {
		var b strings.Builder
		b.WriteString("package x\n")
		for _, other := range others {
			b.WriteString("import _ \"" + other + "\"\n")
		}
		files[folder+"/x.go"] = &fstest.MapFile{Data: []byte(b.String())}
		files[folder+"/x_test.go"] = &fstest.MapFile{Data: []byte("package x\nimport _ \"" + module + "pkg/tested\"\n")}
	}
	return files
}

func TestPackagesStandInLayers(t *testing.T) {
	t.Parallel()
	l, err := readLayers(code(map[string][]string{
		"cmd/tool":         {module + "pkg/cli", "fmt"},
		"pkg/cli":          {module + "pkg/answer", module + "pkg/model/a", module + "pkg/probe/result"},
		"pkg/answer":       {module + "pkg/model/a/b"},
		"pkg/probe/result": {},
		"pkg/model/a":      {module + "pkg/model/a/b"},
		"pkg/model/a/b":    {"math"},
		"pkg/late/dragged": {module + "pkg/model/a"},
	}))
	if err != nil {
		t.Fatal(err)
	}
	want := &layers{
		imports: map[string][]string{
			"tool": {"cli"}, "cli": {"answer", "probe/result"}, "answer": {"model"}, "late": {"model"}, "model": nil, "probe/result": nil,
		},
		level: map[string]int{"tool": 3, "late": 3, "cli": 2, "answer": 1, "probe/result": 1, "model": 0},
	}
	for box, others := range want.imports {
		if diff := cmp.Diff(others, l.imports[box], cmp.Transformer("empty", func(s []string) string { return strings.Join(s, ", ") })); diff != "" {
			t.Errorf("%s imports (-want +got):\n%s", box, diff)
		}
	}
	if diff := cmp.Diff(want.level, l.level); diff != "" {
		t.Errorf("levels (-want +got):\n%s", diff)
	}
	// The arrow from the top to the bottom passes the two rows between.
	if diff := cmp.Diff([]string{"late", "late → model at 2", "late → model at 1", "model"}, l.ways["late → model"]); diff != "" {
		t.Errorf("the way (-want +got):\n%s", diff)
	}
}

func TestImportsThatGoRoundAreNamed(t *testing.T) {
	t.Parallel()
	_, err := readLayers(code(map[string][]string{"pkg/a": {module + "pkg/b"}, "pkg/b": {module + "pkg/a/inner"}, "pkg/a/inner": {}}))
	if err == nil || !strings.Contains(err.Error(), "imports go round: a → b → a") {
		t.Errorf("the error is %v", err)
	}
}
