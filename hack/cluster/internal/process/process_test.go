package process

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTheTailOfALogIsTheLastLinesOfThisProcess(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "part.log")
	earlier := "from before the restart\n"
	var lines []string
	for i := range tailLines + 5 {
		lines = append(lines, fmt.Sprintf("line %d", i))
	}
	for name, test := range map[string]struct{ written, want string }{
		"nothing":     {"", "it wrote nothing to its log"},
		"a few lines": {"one\ntwo\n", "the end of its log:\n    one\n    two"},
		"many lines":  {strings.Join(lines, "\n"), "the end of its log:\n    " + strings.Join(lines[5:], "\n    ")},
	} {
		if err := os.WriteFile(path, []byte(earlier+test.written), 0o600); err != nil {
			t.Fatal(err)
		}
		p := &Process{logPath: path, logFrom: len(earlier)}
		if got := p.Tail(); got != test.want {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
}
