package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The commands in the docs, those of indented blocks that begin with kubectl loadline,
// work as typed in the root of the repository; what stands below one that begins with
// $ is what it prints, and exit code 1, that the answer is no.
//
//nolint:paralleltest // it changes the folder
func TestTheCommandsOfTheDocsPrintWhatTheDocsSay(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	// A folder that looks like the root, and may be written to.
	t.Chdir(t.TempDir())
	for _, dir := range []string{"config", "docs", "test"} {
		if err := os.Symlink(filepath.Join(root, dir), dir); err != nil {
			t.Fatal(err)
		}
	}
	for document, commands := range map[string]int{"README.md": 2, "docs/replay.md": 3, "docs/sizing.md": 6} {
		text, err := os.ReadFile(filepath.Join(root, document))
		if err != nil {
			t.Fatal(err)
		}
		if ran := runDocument(t, string(text)); ran != commands {
			t.Errorf("%s: ran %d commands, want %d", document, ran, commands)
		}
	}
}

// runDocument runs the commands of a text, and returns how many there are.
func runDocument(t *testing.T, text string) (ran int) {
	t.Helper()
	for _, block := range indentedBlocks(text) {
		block = strings.ReplaceAll(block, "\\\n", " ")
		command, printed, _ := strings.Cut(block, "\n")
		command, compared := strings.CutPrefix(command, "$ ")
		command, ours := strings.CutPrefix(command, "kubectl loadline ")
		if !ours {
			continue
		}
		ran++
		code, stdout, stderr := invoke(t, "", strings.Fields(command)...)
		if no := compared && code == exitNo; code != 0 && !no {
			t.Errorf("%s\nexit code %d: %s", command, code, stderr)
		}
		if compared && stdout+stderr != printed {
			t.Errorf("%s\nprints\n%swant\n%s", command, stdout+stderr, printed)
		}
	}
	return ran
}

// indentedBlocks returns the blocks of code of a text in Markdown, without their
// indentation.
func indentedBlocks(markdown string) []string {
	var blocks []string
	inside := false
	for line := range strings.Lines(markdown) {
		code, indented := strings.CutPrefix(line, "    ")
		switch {
		case !indented:
		case inside:
			blocks[len(blocks)-1] += code
		default:
			blocks = append(blocks, code)
		}
		inside = indented
	}
	return blocks
}
