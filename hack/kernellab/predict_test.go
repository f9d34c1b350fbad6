package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadline.dev/loadline/hack/kernellab/mixes"
)

// tables has what kernels made of mixes.
var tables = filepath.Join("..", "..", "test", "testdata", "kernellab")

// The bounds are those of the model of weights and limits as it is, rounded up: a model that is worse than they say is worse than it was.
func TestTheModelIsAsFarFromEachKernelAsItsPageSays(t *testing.T) {
	t.Parallel()
	for name, bound := range map[string]struct{ mean, worst float64 }{
		"6.1.csv":  {0.024, 0.29},
		"6.12.csv": {0.014, 0.16},
		"7.3.csv":  {0.016, 0.26},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rows, err := readFile(filepath.Join(tables, name))
			if err != nil {
				t.Fatal(err)
			}
			found, err := judge(rows)
			if err != nil {
				t.Fatal(err)
			}
			var table strings.Builder
			writeAccuracy(&table, found)
			t.Logf("%s\n%s", name, &table)
			if all := found[0]; all.mean() > bound.mean || all.worst > bound.worst {
				t.Errorf("the model is off by %.4f on average and %.4f at worst, more than %v", all.mean(), all.worst, bound)
			}
		})
	}
}

func TestTheTablesHaveTheFirstMixesThatAreDrawn(t *testing.T) {
	t.Parallel()
	var drawn bytes.Buffer
	if err := mixes.Write(&drawn, draw(64, 1, 1)); err != nil {
		t.Fatal(err)
	}
	want, err := mixes.Read(&drawn)
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(tables, "*.csv"))
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no tables: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			got, err := readFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for i := range got {
				got[i].Result = mixes.Result{}
			}
			if diff := cmp.Diff(want[:min(len(got), len(want))], got); diff != "" {
				t.Errorf("mixes (-drawn +found):\n%s", diff)
			}
		})
	}
}

// A table that is far larger than its numbers need would be carried by every clone.
func TestTheTablesAreSmall(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(tables, "*"))
	if err != nil {
		t.Fatal(err)
	}
	size := int64(0)
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		size += info.Size()
	}
	const most = 300 << 10
	if size > most {
		t.Errorf("the tables have %d bytes, more than %d", size, most)
	}
}
