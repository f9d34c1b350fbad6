package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Each number of the claims of docs/accuracy.md stands on a page of evidence, written alike.
func TestTheClaimsAreOnThePagesOfEvidence(t *testing.T) {
	t.Parallel()
	var evidence strings.Builder
	for _, p := range pages {
		if strings.HasPrefix(p.Path, "docs/evidence/") {
			evidence.WriteString(textOf(t, p.Path))
		}
	}
	_, claims, _ := strings.Cut(textOf(t, "docs/accuracy.md"), "\n1. ")
	claims, _, _ = strings.Cut(claims, "\n## ")
	claims = regexp.MustCompile(`(?m)^\d\. |claim \d`).ReplaceAllString(claims, "")
	numbers := regexp.MustCompile(`\d[\d.e-]*\d( %)?|\d %`).FindAllString(claims, -1)
	if len(numbers) < 20 {
		t.Fatalf("the claims have only the numbers %q", numbers)
	}
	for _, number := range numbers {
		if !regexp.MustCompile(`(^|[^\d.])` + regexp.QuoteMeta(number) + `($|[^\d])`).MatchString(evidence.String()) {
			t.Errorf("docs/accuracy.md claims %s, which is on no page of evidence", number)
		}
	}
}

func TestTheClaimsCanBeReadAtOnce(t *testing.T) {
	t.Parallel()
	const words = 800
	if n := len(strings.Fields(textOf(t, "docs/accuracy.md"))); n > words {
		t.Errorf("docs/accuracy.md has %d words, want at most %d", n, words)
	}
}

// textOf returns the text of a page.
func textOf(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(path)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
