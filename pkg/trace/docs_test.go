package trace

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The examples in docs/reference/traces.md are its indented blocks that begin as a trace
// does.
func TestTheExamplesInTheDocsAreRead(t *testing.T) {
	t.Parallel()
	docs, err := os.ReadFile(filepath.Join("..", "..", "docs", "reference", "traces.md"))
	if err != nil {
		t.Fatal(err)
	}
	read := map[Format]int{}
	for _, block := range regexp.MustCompile(`(?m)(^ {4}.*\n)+`).FindAllString(string(docs), -1) {
		block = strings.ReplaceAll("\n"+block, "\n    ", "\n")[1:]
		for format, start := range map[Format]string{CSV: Version, SWF: ";", Openb: "name,"} {
			if !strings.HasPrefix(block, start) {
				continue
			}
			jobs, err := readJobs(block, Options{Format: format})
			if err != nil {
				t.Errorf("%v\n%s", err, block)
			}
			read[format] += len(jobs)
		}
	}
	if read[CSV] != 5 || read[SWF] != 1 || read[Openb] != 1 {
		t.Errorf("read %v jobs, want 5 in csv, 1 in swf, 1 in openb", read)
	}
}
