package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// constants are the types and reasons of conditions that are declared together.
type constants struct {
	// about is the comment above them, which names the kinds that they are of.
	about string
	kinds []string
	list  []constant
}

// constant is a type or a reason.
type constant struct {
	value, meaning string
	isType         bool // else it is a reason
}

// isOf reports whether the constants are of a kind.
func (g *constants) isOf(k *kind) bool { return slices.Contains(g.kinds, k.name) }

// readConstants reads the types and reasons of conditions from the sources of the API.
func readConstants(root string, kinds []*kind) ([]constants, error) {
	file := filepath.Join(root, "apis", "loadline", "v1alpha1", "conditions.go")
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, k := range kinds {
		names = append(names, k.name)
	}
	return parseConstants(text, names)
}

// parseConstants reads them from Go. It fails if one of them has no comment, or does not
// say what it belongs to.
func parseConstants(text []byte, kinds []string) ([]constants, error) {
	parsed, err := parser.ParseFile(token.NewFileSet(), "conditions.go", text, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	mention := regexp.MustCompile(`\b(` + strings.Join(kinds, "|") + `)s?\b`)
	var groups []constants
	var errs []error
	for _, d := range parsed.Decls {
		declared, ok := d.(*ast.GenDecl)
		if !ok || declared.Tok != token.CONST {
			continue
		}
		g := constants{about: strings.TrimSpace(declared.Doc.Text())}
		for _, found := range mention.FindAllStringSubmatch(g.about, -1) {
			g.kinds = append(g.kinds, found[1])
		}
		for _, s := range declared.Specs {
			c, err := newConstant(s)
			errs = append(errs, err)
			g.list = append(g.list, c)
		}
		if len(g.kinds) == 0 {
			errs = append(errs, fmt.Errorf("conditions.go: the comment %q names no kind that the constants are of", g.about))
		}
		groups = append(groups, g)
	}
	return groups, errors.Join(errs...)
}

// newConstant reads one, such as ReasonStale = "Stale" with a comment that begins with
// "ReasonStale says that" or just with "ReasonStale".
func newConstant(s ast.Spec) (constant, error) {
	spec, ok := s.(*ast.ValueSpec)
	if !ok || len(spec.Names) != 1 || len(spec.Values) != 1 {
		return constant{}, errors.New("conditions.go: want one name and one value a line")
	}
	name := spec.Names[0].Name
	literal, ok := spec.Values[0].(*ast.BasicLit)
	if !ok || literal.Kind != token.STRING {
		return constant{}, fmt.Errorf("conditions.go: %s: want a string", name)
	}
	value, err := strconv.Unquote(literal.Value)
	if err != nil {
		return constant{}, err
	}
	about, ok := strings.CutPrefix(strings.Join(strings.Fields(spec.Doc.Text()), " "), name+" ")
	if !ok {
		return constant{}, fmt.Errorf("conditions.go: %s: want a comment that begins with the name and says what it means", name)
	}
	for _, verb := range []string{"says that ", "is "} {
		if rest, cut := strings.CutPrefix(about, verb); cut {
			about = rest
			break
		}
	}
	return constant{value: value, meaning: capital(about), isType: strings.HasPrefix(name, "Condition")}, nil
}

// hasCondition reports whether the kind has a condition of a type: its field for
// conditions names them.
func (k *kind) hasCondition(name string) bool {
	return regexp.MustCompile(`\b` + regexp.QuoteMeta(name) + `\b`).MatchString(k.conditionTypes())
}
