package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAMethodIsDescribedByTheFirstSentenceOfItsComment(t *testing.T) {
	t.Parallel()
	source := "package p\n\n// Bubble swaps [Pair] after pair. It is slow.\ntype Bubble struct{}\n\nconst (\n\t// Merge is a sort that\n\t// merges. Stable.\n\tMerge = 1\n\tQuick = 2\n)\n"
	parsed, err := parser.ParseFile(token.NewFileSet(), "p.go", source, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	found := comments{}
	for _, d := range parsed.Decls {
		if declared, ok := d.(*ast.GenDecl); ok {
			found.add(declared)
		}
	}
	var got [][]string
	for _, c := range []choice{{"bubble", "Bubble"}, {"merge", "Merge"}} {
		row, err := found.row(c.value, c.name)
		if err != nil {
			t.Error(err)
		}
		got = append(got, row)
	}
	want := [][]string{{"`bubble`", "Swaps Pair after pair."}, {"`merge`", "A sort that merges."}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if row, err := found.row("quick", "Quick"); err == nil {
		t.Errorf("a method without a comment is described as %q", row)
	}
}
