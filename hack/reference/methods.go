package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/hack/reference/markdown"
	"loadline.dev/loadline/pkg/model/fairshare"
	"loadline.dev/loadline/pkg/model/placement"
)

// comments are the first sentences of the comments of a package's types and constants, by name.
type comments map[string]string

// readComments reads them from the sources of a package.
func readComments(folder string) (comments, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		return nil, err
	}
	found := comments{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		for _, d := range parsed.Decls {
			if declared, ok := d.(*ast.GenDecl); ok {
				found.add(declared)
			}
		}
	}
	return found, nil
}

// add adds those of a declaration.
func (c comments) add(declared *ast.GenDecl) {
	first := new(doc.Package).Synopsis
	for _, s := range declared.Specs {
		switch spec := s.(type) {
		case *ast.TypeSpec:
			c[spec.Name.Name] = first(declared.Doc.Text())
		case *ast.ValueSpec:
			c[spec.Names[0].Name] = first(spec.Doc.Text())
		}
	}
}

// mentions are the links of Go's comments.
var mentions = regexp.MustCompile(`\[(\w+)\]`)

// row is the line of a table for a value of a flag, whose comment begins with the name that it has in Go.
func (c comments) row(value, name string) ([]string, error) {
	about, ok := strings.CutPrefix(c[name], name+" ")
	if !ok {
		return nil, fmt.Errorf("%s: want a comment that begins with the name and says what it means", name)
	}
	about = strings.TrimPrefix(mentions.ReplaceAllString(about, "$1"), "is ")
	return []string{markdown.Code(value), markdown.Cell(sentence(capital(about)))}, nil
}

// choice is a value that a flag or a field takes, and its name in Go.
type choice struct{ value, name string }

// methodTables are the tables of the page, each of the choices of a package.
func methodTables() []methodTable {
	return []methodTable{
		{
			"Placement policies", "`kubectl loadline replay --policies`, and `spec.policies` of a [TraceReplay](api/tracereplay.md):",
			"pkg/model/placement", policyChoices(),
		},
		{
			"Response times from shares", "`kubectl loadline share --method`. `--compare` shows the time and the error of each on your tree:",
			"pkg/model/fairshare", shareChoices(),
		},
		{
			"Disciplines", "The order in which a pool takes the jobs that wait: `kubectl loadline size --discipline`, and `spec.discipline` of a [PoolPlan](api/poolplan.md):",
			"apis/loadline/v1alpha1",
			[]choice{
				{v1alpha1.DisciplineFCFS, "DisciplineFCFS"},
				{v1alpha1.DisciplineHOL, "DisciplineHOL"},
				{v1alpha1.DisciplinePDP, "DisciplinePDP"},
				{v1alpha1.DisciplineLateLast, "DisciplineLateLast"},
			},
		},
	}
}

type methodTable struct {
	title, about, folder string
	choices              []choice
}

func policyChoices() []choice {
	var list []choice
	for _, name := range placement.Names() {
		if policy, err := placement.Named(name, placement.Options{}); err == nil {
			list = append(list, choice{name, reflect.Indirect(reflect.ValueOf(policy)).Type().Name()})
		}
	}
	return list
}

func shareChoices() []choice {
	names := map[fairshare.Method]string{
		fairshare.Race: "Race", fairshare.Subsets: "Subsets", fairshare.Hierarchical: "Hierarchical", fairshare.Permutations: "Permutations",
		fairshare.MonteCarlo: "MonteCarlo", fairshare.AHMC: "AHMC", fairshare.Caps: "Caps",
	}
	var list []choice
	for _, m := range append(fairshare.Methods(), fairshare.Caps) {
		list = append(list, choice{m.String(), names[m]})
	}
	return list
}

// addMethods adds the page of the methods that flags and fields choose from.
func (b book) addMethods(root string) error {
	page := markdown.NewPage("Methods")
	page.Add("The methods that flags and fields choose from, as the comments of the code say what they do.")
	var errs []error
	for _, t := range methodTables() {
		found, err := readComments(filepath.Join(root, t.folder))
		errs = append(errs, err)
		var rows [][]string
		for _, c := range t.choices {
			row, err := found.row(c.value, c.name)
			errs = append(errs, err)
			rows = append(rows, row)
		}
		page.Heading(2, t.title, markdown.Slug(t.title))
		page.Add(t.about, markdown.Table([]string{"Value", "What it does"}, rows...))
	}
	b.add("methods.md", page)
	return errors.Join(errs...)
}
