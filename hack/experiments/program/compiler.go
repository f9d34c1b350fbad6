package program

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
)

// compiled are the packages that are checked, the first ones if they are fewer. All that they import is checked once, before the
// first round.
func compiled() []string {
	return []string{"encoding/csv", "text/tabwriter", "encoding/json", "text/template/parse", "go/doc/comment", "compress/flate", "regexp", "go/printer"}
}

// openCompiler finds the standard library, in GOROOT, and checks what packages import.
func openCompiler(ctx context.Context, s *Spec, _ string) (*program, error) {
	packages := compiled()
	if s.Size > len(packages) {
		return nil, fmt.Errorf("size: %d is more than there are packages: %d", s.Size, len(packages))
	}
	c := &compiler{context: build.Default}
	c.context.CgoEnabled = false
	for _, path := range packages[:s.Size] {
		found, err := c.context.Import(path, "", 0)
		if err != nil {
			return nil, errors.Join(errNothing, err)
		}
		c.packages = append(c.packages, found)
	}
	c.imported = importer.ForCompiler(token.NewFileSet(), "source", nil)
	return &program{c.check, nothingToClose}, c.check(ctx)
}

// compiler is what stays from round to round.
type compiler struct {
	context  build.Context
	packages []*build.Package
	imported types.Importer
}

// check parses and checks the packages.
func (c *compiler) check(context.Context) error {
	for _, p := range c.packages {
		files, set := make([]*ast.File, len(p.GoFiles)), token.NewFileSet()
		for i, name := range p.GoFiles {
			var err error
			if files[i], err = parser.ParseFile(set, filepath.Join(p.Dir, name), nil, 0); err != nil {
				return err
			}
		}
		info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}}
		config := types.Config{Importer: c.imported}
		if _, err := config.Check(p.ImportPath, set, files, info); err != nil {
			return err
		}
	}
	return nil
}
