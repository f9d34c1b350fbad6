package docs

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"loadline.dev/loadline/hack/local"
	"loadline.dev/loadline/test/docs/page"
)

// What all tests share.
var (
	root   string // of the repository
	plugin string // the folder of kubectl-loadline
	pages  []*page.Page
)

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (int, error) {
	ctx := context.Background()
	var err error
	if root, err = local.Root(ctx); err != nil {
		return 0, err
	}
	if pages, err = readPages(); err != nil {
		return 0, err
	}
	if plugin, err = os.MkdirTemp("", "loadline-docs-"); err != nil {
		return 0, err
	}
	defer os.RemoveAll(plugin) //nolint:errcheck // a temporary folder
	if _, err := local.Build(ctx, root, plugin, "kubectl-loadline"); err != nil {
		return 0, err
	}
	return m.Run(), nil
}

// readPages reads the pages of the root and all of docs, in the order of their paths.
func readPages() ([]*page.Page, error) {
	paths, err := filepath.Glob(filepath.Join(root, "*.md"))
	if err != nil {
		return nil, err
	}
	err = filepath.WalkDir(filepath.Join(root, "docs"), func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".md") {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	slices.Sort(paths)
	var all []*page.Page
	for _, path := range paths {
		relative, err := filepath.Rel(root, path)
		if err != nil {
			return nil, err
		}
		p, err := page.Read(root, filepath.ToSlash(relative))
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

// pageAt returns the page of a path, nil if there is none.
func pageAt(path string) *page.Page {
	for _, p := range pages {
		if p.Path == path {
			return p
		}
	}
	return nil
}

// at says where something is.
func at(p *page.Page, line int) string { return fmt.Sprintf("%s:%d", p.Path, line) }

// exists reports whether there is such a file or folder of the repository.
func exists(path string) bool {
	_, err := os.Stat(filepath.Join(root, filepath.FromSlash(path)))
	return err == nil
}
