package docs

import (
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// place is a row of the table "Where to add" of docs/architecture.md.
type place struct {
	what string
	like []string // words that the last such addition brought into the code
	at   []string // files and folders that are named, by their paths in the repository
}

// sourceFolders have the code and the manifests that an addition may touch.
var sourceFolders = []string{"apis", "charts", "cmd", "config", "pkg", "test"}

// generated are files and folders that `make generate` writes, and the list of what pages and samples show, of which another test says
// what it lacks.
var generated = []string{"config/crd/", "charts/loadline/files/", "zz_generated", "test/manifests/shown.yaml"}

// The table names all files that have the words of the last such addition, so that who adds another one misses none. What make
// generate writes, tests, and comments do not count.
func TestWhereToAddNamesWhatTheLastAdditionTouched(t *testing.T) {
	t.Parallel()
	sources := readSources(t)
	for _, p := range placesToAdd(t) {
		if len(p.like) == 0 {
			continue
		}
		word := regexp.MustCompile(`\b(` + strings.Join(p.like, "|") + `)\b`)
		for file, text := range sources {
			if word.MatchString(text) && !slices.ContainsFunc(p.at, func(at string) bool { return file == at || strings.HasPrefix(file, at+"/") }) {
				t.Errorf("docs/architecture.md: %s: %s has %q, and is not named", p.what, file, word.FindString(text))
			}
		}
	}
}

// Each file and folder that the table names has the words of the last such addition: else it need not be touched.
func TestWhereToAddNamesNothingElse(t *testing.T) {
	t.Parallel()
	for _, p := range placesToAdd(t) {
		for _, at := range p.at {
			if !exists(at) {
				t.Errorf("docs/architecture.md: %s: there is no %s", p.what, at)
			} else if len(p.like) > 0 && !mentions(t, at, p.like) {
				t.Errorf("docs/architecture.md: %s: %s has none of %q", p.what, at, p.like)
			}
		}
	}
}

// placesToAdd returns the rows of the table.
func placesToAdd(t *testing.T) []place {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, "docs", "architecture.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(content), "\n## Where to add\n")
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	var all []place
	for line := range strings.Lines(section) {
		cells := strings.Split(line, " | ")
		const columns = 3
		if !strings.HasPrefix(line, "| ") || len(cells) != columns || strings.HasPrefix(line, "| what ") {
			continue
		}
		p := place{what: strings.TrimPrefix(cells[0], "| ")}
		for _, m := range quoted.FindAllStringSubmatch(cells[1], -1) {
			p.like = append(p.like, m[1])
		}
		for _, m := range link.FindAllStringSubmatch(cells[2], -1) {
			file, _, _ := strings.Cut(m[1], "#")
			p.at = append(p.at, path.Join("docs", file))
		}
		all = append(all, p)
	}
	if len(all) == 0 {
		t.Fatal("docs/architecture.md has no table of where to add what")
	}
	return all
}

// readSources returns the text of all sources by their paths, of Go files without comments.
func readSources(t *testing.T) map[string]string {
	t.Helper()
	sources := map[string]string{}
	for _, folder := range sourceFolders {
		err := fs.WalkDir(os.DirFS(root), folder, func(file string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || strings.HasSuffix(file, "_test.go") || slices.ContainsFunc(generated, func(part string) bool { return strings.Contains(file, part) }) {
				return err
			}
			switch path.Ext(file) {
			case ".go":
				text, err := os.ReadFile(filepath.Join(root, file))
				sources[file] = withoutGoComments(text)
				return err
			case ".yaml", ".tpl":
				text, err := os.ReadFile(filepath.Join(root, file))
				sources[file] = withoutComments(string(text))
				return err
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return sources
}

// withoutGoComments returns the tokens of a Go file, one a line, with markers such as // +kubebuilder and without other comments.
func withoutGoComments(text []byte) string {
	var s scanner.Scanner
	s.Init(token.NewFileSet().AddFile("", -1, len(text)), text, nil, scanner.ScanComments)
	var b strings.Builder
	for {
		_, tok, literal := s.Scan()
		if tok == token.EOF {
			return b.String()
		}
		if tok != token.COMMENT || strings.HasPrefix(literal, "// +") {
			b.WriteString(literal + "\n")
		}
	}
}

// mentions reports whether a file, or one in a folder, has one of some words.
func mentions(t *testing.T, at string, words []string) bool {
	t.Helper()
	found := false
	err := fs.WalkDir(os.DirFS(root), at, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || found {
			return err
		}
		text, err := os.ReadFile(filepath.Join(root, file))
		found = slices.ContainsFunc(words, func(word string) bool { return strings.Contains(string(text), word) })
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
