package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"loadline.dev/loadline/hack/kernellab/mixes"
)

// A wrong command line is refused before a kernel is fetched or booted.
func TestWrongCommandLinesAreRefused(t *testing.T) {
	t.Parallel()
	var drawn strings.Builder
	if err := mixes.Write(&drawn, draw(2, 1, 1)); err != nil {
		t.Fatal(err)
	}
	table := filepath.Join(t.TempDir(), "mixes.csv")
	if err := os.WriteFile(table, []byte(drawn.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		args []string
		want string
	}{
		{nil, "want one of draw, run, gauge, compare and kernels"},
		{[]string{"boot"}, `"boot" is none of draw, run, gauge, compare and kernels`},
		{[]string{"draw", "--mixes", "0"}, "--mixes: 0 is not at least 1"},
		{[]string{"draw", "--processors", "17"}, "--processors: 17 is not between 1 and 16"},
		{[]string{"compare"}, "want tables of results, as kernellab run writes them"},
		{[]string{"compare", table}, "there are no results"},
		{[]string{"run"}, "want the table of mixes: a file, as kernellab draw writes it"},
		{[]string{"run", "--cgroup", "3", table}, "--cgroup: 3 is neither 1 nor 2"},
		{[]string{"run", "--processors", "0", table}, "--processors: 0 is not between 1 and 16"},
		{[]string{"run", "--slices-of", "-1", table}, "--slices-of: -1 is not at least 0"},
		{[]string{"run", "--settle", "NaN", table}, "--settle: NaN is not a finite number of seconds of at least 0"},
		{[]string{"run", "--settle", "-1", table}, "--settle: -1 is not a finite number of seconds of at least 0"},
		{[]string{"run", "--only", "(", table}, "--only: error parsing regexp"},
		{[]string{"run", "--only", "nosuch", table}, `--only: "nosuch" is the name of no mix of ` + table},
		{[]string{"run", table + ".gone"}, "no such file or directory"},
	} {
		t.Run(strings.Join(test.args, " "), func(t *testing.T) {
			t.Parallel()
			if err := run(t.Context(), io.Discard, io.Discard, test.args); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error is %v, want %s", err, test.want)
			}
		})
	}
}
