package main

import (
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadline.dev/loadline/hack/reference/markdown"
)

const (
	root    = "../.."
	written = root + "/docs/reference"
)

// readBook reads the pages of a folder.
func readBook(t *testing.T, folder string) book {
	t.Helper()
	b := book{}
	err := fs.WalkDir(os.DirFS(folder), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(filepath.Join(folder, path))
		b[path] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

var (
	block   = regexp.MustCompile("(?s)\n```.*?\n```+\n")
	inline  = regexp.MustCompile("``?[^`]+`?`")
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	anchor  = regexp.MustCompile(`<a id="([^"]*)"></a>`)
	link    = regexp.MustCompile(`\]\(([^)]*)\)`)
)

// ids are what links to a page can lead to.
func ids(page string) []string {
	page = block.ReplaceAllString(page, "\n")
	var found []string
	for _, h := range heading.FindAllStringSubmatch(page, -1) {
		if !anchor.MatchString(h[1]) {
			found = append(found, markdown.Slug(strings.ReplaceAll(h[1], `\`, "")))
		}
	}
	for _, a := range anchor.FindAllStringSubmatch(page, -1) {
		found = append(found, a[1])
	}
	return found
}

// links are where the links of a page lead to.
func links(page string) []string {
	page = inline.ReplaceAllString(block.ReplaceAllString(page, "\n"), "")
	var found []string
	for _, l := range link.FindAllStringSubmatch(page, -1) {
		found = append(found, l[1])
	}
	return found
}

// It also shows that every command, flag, field and metric says what it is: else there
// are no pages.
func TestTheReferenceIsUpToDate(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds every program")
	}
	programs, err := describePrograms(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	want, err := pages(root, programs)
	if err != nil {
		t.Fatal(err)
	}
	got := readBook(t, written)
	maps.DeleteFunc(got, func(_, page string) bool { return !strings.HasPrefix(page, markdown.Marker) })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("docs/reference is stale, run make generate (-want +got):\n%s", diff)
	}
}

func TestEveryLinkOfTheReferenceLeadsSomewhere(t *testing.T) {
	t.Parallel()
	b := readBook(t, written)
	for from, page := range b {
		seen := ids(page)
		slices.Sort(seen)
		if len(slices.Compact(slices.Clone(seen))) != len(seen) {
			t.Errorf("%s: two places have the same id: %v", from, seen)
		}
		for _, target := range links(page) {
			if strings.HasPrefix(target, "https://") {
				continue
			}
			file, id, _ := strings.Cut(target, "#")
			to := from
			if file != "" {
				to = path.Join(path.Dir(from), file)
			}
			text, isPage := b[to]
			if _, err := os.Stat(filepath.Join(written, to)); err != nil {
				t.Errorf("%s: the link to %s: %v", from, target, err)
			}
			if isPage && id != "" && !slices.Contains(ids(text), id) {
				t.Errorf("%s: the link to %s: there is no such place", from, target)
			}
		}
	}
}

func TestEveryPageCanBeReached(t *testing.T) {
	t.Parallel()
	b := readBook(t, written)
	reached := map[string]bool{}
	next := []string{"README.md"}
	for len(next) > 0 {
		page := next[0]
		next = next[1:]
		if reached[page] {
			continue
		}
		reached[page] = true
		for _, target := range links(b[page]) {
			file, _, _ := strings.Cut(target, "#")
			if to := path.Join(path.Dir(page), file); b[to] != "" {
				next = append(next, to)
			}
		}
	}
	for page := range b {
		if !reached[page] {
			t.Errorf("no link leads to %s", page)
		}
	}
}
