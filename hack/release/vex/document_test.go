package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/openvex/go-vex/pkg/vex"
	"github.com/package-url/packageurl-go"
)

// root is the root of the repository, list its list of statements.
const (
	root = "../../.."
	list = root + "/security/vex.yaml"
)

func TestADocumentIsAboutTheProgramsOfItsRelease(t *testing.T) {
	t.Parallel()
	statements, err := parse([]byte(`statements:
- vulnerability: {name: CVE-2026-12345, aliases: [GO-2026-1234]}
  products:
  - "@id": pkg:golang/loadline.dev/loadline#cmd/loadline-manager
    subcomponents: [{"@id": pkg:golang/golang.org/x/net}]
  - "@id": pkg:golang/loadline.dev/loadline
  status: not_affected
  justification: vulnerable_code_not_in_execute_path
`))
	if err != nil {
		t.Fatal(err)
	}
	made := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	document, err := about("v1.2.3", made, statements)
	if err != nil {
		t.Fatal(err)
	}
	want := &vex.VEX{
		Metadata: vex.Metadata{
			Context: "https://openvex.dev/ns/v0.2.0", ID: "https://loadline.dev/vex/v1.2.3",
			Author: "Loadline", AuthorRole: "maintainers", Timestamp: &made, Version: 1,
		},
		Statements: []vex.Statement{{
			Vulnerability: vex.Vulnerability{Name: "CVE-2026-12345", Aliases: []vex.VulnerabilityID{"GO-2026-1234"}},
			Products: []vex.Product{
				{ // as the bill of materials has it
					Component:     vex.Component{ID: "pkg:golang/loadline.dev/loadline@v1.2.3#cmd/loadline-manager"},
					Subcomponents: []vex.Subcomponent{{Component: vex.Component{ID: "pkg:golang/golang.org/x/net"}}},
				},
				{Component: vex.Component{ID: "pkg:golang/loadline.dev/loadline@v1.2.3"}},
			},
			Status: vex.StatusNotAffected, Justification: vex.VulnerableCodeNotInExecutePath,
		}},
	}
	if diff := cmp.Diff(want, document); diff != "" {
		t.Errorf("the document (-want +got):\n%s", diff)
	}
	if !document.Statements[0].Matches("GO-2026-1234", "pkg:golang/loadline.dev/loadline@v1.2.3", []string{"pkg:golang/golang.org/x/net@v0.1.0"}) {
		t.Error("a scanner does not find the statement")
	}
	if statements[0].Products[0].ID != "pkg:golang/loadline.dev/loadline#cmd/loadline-manager" {
		t.Errorf("the list has changed: %v", statements[0].Products)
	}
}

func TestADocumentIsReadAsItWasWrittenAndEveryTimeTheSame(t *testing.T) {
	t.Parallel()
	var written [2]string
	for i := range written {
		file := filepath.Join(t.TempDir(), "loadline.openvex.json")
		if err := run([]string{list, "v1.2.3", "2026-01-02T03:04:05Z", file}); err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		written[i] = string(content)
	}
	if diff := cmp.Diff(written[0], written[1]); diff != "" {
		t.Errorf("two documents differ:\n%s", diff)
	}
	if _, err := vex.Parse([]byte(written[0])); err != nil {
		t.Error(err)
	}
}

func TestTheListIsValidAndNamesProgramsThatThereAre(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile(list)
	if err != nil {
		t.Fatal(err)
	}
	statements, err := parse(content)
	if err != nil {
		t.Fatal(err)
	}
	checkPrograms(t, statements)
}

func TestTheExampleInTheListIsValid(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile(list)
	if err != nil {
		t.Fatal(err)
	}
	example := []string{"statements:"}
	for _, line := range regexp.MustCompile(`(?m)^# {3}(.*)$`).FindAllStringSubmatch(string(content), -1) {
		example = append(example, line[1])
	}
	statements, err := parse([]byte(strings.Join(example, "\n")))
	if err != nil {
		t.Fatalf("%v:\n%s", err, strings.Join(example, "\n"))
	}
	if len(statements) != 2 {
		t.Errorf("it has %d statements, want 2", len(statements))
	}
	checkPrograms(t, statements)
	for _, justification := range vex.Justifications() {
		if !strings.Contains(string(content), justification) {
			t.Errorf("the comment lacks the justification %s", justification)
		}
	}
}

// checkPrograms checks that the programs which statements name are in cmd.
func checkPrograms(t *testing.T, statements []vex.Statement) {
	t.Helper()
	for _, s := range statements {
		for _, product := range s.Products {
			url, err := packageurl.FromString(product.ID)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(filepath.Join(root, url.Subpath)); err != nil {
				t.Errorf("%s: %s: %v", s.Vulnerability.Name, product.ID, err)
			}
		}
	}
}

func TestAStatementThatSaysTooLittleOrTooMuchIsRefused(t *testing.T) {
	t.Parallel()
	const vulnerability, product = "vulnerability: {name: CVE-2026-1}", `products: [{"@id": "pkg:golang/loadline.dev/loadline"}]`
	for name, test := range map[string]struct {
		statement []string
		want      string
	}{
		"no vulnerability":   {[]string{product, "status: fixed"}, "statements[0]: vulnerability.name: is missing"},
		"no product":         {[]string{vulnerability, "status: fixed"}, "statements[0]: products: want one at least"},
		"another product":    {[]string{vulnerability, `products: [{"@id": "pkg:golang/example.com/other"}]`, "status: fixed"}, `products[0]["@id"]: "pkg:golang/example.com/other" is neither`},
		"no package URL":     {[]string{vulnerability, `products: [{"@id": "loadline"}]`, "status: fixed"}, `products[0]["@id"]: "loadline": `},
		"a version":          {[]string{vulnerability, `products: [{"@id": "pkg:golang/loadline.dev/loadline@v1.2.3"}]`, "status: fixed"}, "without a version"},
		"no program":         {[]string{vulnerability, `products: [{"@id": "pkg:golang/loadline.dev/loadline#pkg/model"}]`, "status: fixed"}, "#cmd/PROGRAM"},
		"no dependency":      {[]string{vulnerability, `products: [{"@id": "pkg:golang/loadline.dev/loadline", subcomponents: [{"@id": "x/net"}]}]`, "status: fixed"}, `products[0].subcomponents[0]["@id"]: "x/net": `},
		"no status":          {[]string{vulnerability, product}, `invalid status value ""`},
		"an unknown status":  {[]string{vulnerability, product, "status: ignored"}, `invalid status value "ignored"`},
		"no justification":   {[]string{vulnerability, product, "status: not_affected", "impact_statement: we believe so"}, "justification: is missing, want one of component_not_present"},
		"an unknown one":     {[]string{vulnerability, product, "status: not_affected", "justification: unlikely"}, `invalid justification value "unlikely"`},
		"no action":          {[]string{vulnerability, product, "status: affected"}, "action statement must be set"},
		"needless words":     {[]string{vulnerability, product, "status: fixed", "justification: component_not_present"}, "justification should not be set"},
		"an unknown field":   {[]string{vulnerability, product, "status: fixed", "reason: none"}, `unknown field "reason"`},
		"a field said twice": {[]string{vulnerability, product, "status: fixed", "status: affected"}, `"status" already set`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := parse([]byte("statements:\n- " + strings.Join(test.statement, "\n  ") + "\n"))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error is %v, want %q", err, test.want)
			}
		})
	}
}

func TestWrongUseSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "loadline.openvex.json")
	for want, args := range map[string][]string{
		"want LIST VERSION TIME FILE": {list, "v1.2.3"},
		"TIME: ":                      {list, "v1.2.3", "yesterday", file},
		"VERSION: is empty":           {list, "", "2026-01-02T03:04:05Z", file},
		"absent.yaml: no such file":   {"absent.yaml", "v1.2.3", "2026-01-02T03:04:05Z", file},
	} {
		if err := run(args); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: the error is %v, want %q", args, err, want)
		}
	}
}
