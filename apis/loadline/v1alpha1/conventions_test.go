package v1alpha1_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The API conventions that our types keep, checked on their source: what
// Kubernetes asks of its own types, and our own choices (design: no floats, no
// maps, no durations, no booleans, no phase).

func TestTypesKeepTheAPIConventions(t *testing.T) {
	t.Parallel()
	sources, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	declared := api{}
	for _, source := range sources {
		if !strings.HasSuffix(source, "_test.go") {
			declared.read(t, source, nil)
		}
	}
	if _, found := declared["WorkloadProfile"]; !found {
		t.Fatal("no WorkloadProfile among the types: the test does not read what it is for")
	}
	for _, v := range declared.violations() {
		t.Error(v)
	}
}

func TestEveryConventionIsEnforced(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		source string
		want   string
	}{
		"no-float": {
			field(`// load is a load.`, `// +required`, "Load float64 `json:\"load\"`"),
			"Spec.load: no-float: float64 is rounded differently by every client: use resource.Quantity",
		},
		"no-float in a list": {
			field(`// load is a load.`, `// +required`, `// +listType=atomic`, `// +kubebuilder:validation:MaxItems=3`, "Load []float32 `json:\"load\"`"),
			"Spec.load: no-float: float32 is rounded differently by every client: use resource.Quantity",
		},
		"no-map": {
			field(`// loads are loads.`, `// +required`, "Loads map[string]int32 `json:\"loads\"`"),
			"Spec.loads: no-map: a map cannot grow further fields: use a list with listType=map",
		},
		"no-bool": {
			field(`// fast is fast.`, `// +optional`, "Fast *bool `json:\"fast,omitempty\"`"),
			"Spec.fast: no-bool: a boolean cannot grow a third choice: use a string with an Enum",
		},
		"no-duration": {
			field(`// wait is a wait.`, `// +optional`, "Wait *metav1.Duration `json:\"wait,omitempty\"`"),
			"Spec.wait: no-duration: only Go reads durations such as 1h5m: use an integer with the unit in its name",
		},
		"integer-size": {
			field(`// count is a count.`, `// +optional`, "Count *int `json:\"count,omitempty\"`"),
			"Spec.count: integer-size: int is not portable: use int32 or int64",
		},
		"integer-size, unsigned": {
			field(`// count is a count.`, `// +optional`, "Count *uint32 `json:\"count,omitempty\"`"),
			"Spec.count: integer-size: uint32 is not portable: use int32 or int64",
		},
		"quantity-message": {
			field(`// load is a load.`, `// +optional`, `// +kubebuilder:validation:XIntOrString`, "Load *resource.Quantity `json:\"load,omitempty\"`"),
			"Spec.load: quantity-message: for \"NaN\" the API server would print the pattern of quantities in place of the rule's message: set +kubebuilder:validation:Schemaless",
		},
		"list-type": {
			field(
				`// names are names.`, `// +required`, `// +kubebuilder:validation:MaxItems=3`, `// +kubebuilder:validation:items:MaxLength=3`,
				"Names []string `json:\"names\"`",
			),
			"Spec.names: list-type: say how two appliers merge the list: +listType=map, set or atomic",
		},
		"list-map-key": {
			field(`// spots are spots.`, `// +required`, `// +listType=map`, `// +kubebuilder:validation:MaxItems=3`, "Spots []Spot `json:\"spots\"`"),
			"Spec.spots: list-map-key: a list with listType=map needs +listMapKey",
		},
		"max-items": {
			field(`// spots are spots.`, `// +required`, `// +listType=atomic`, "Spots []Spot `json:\"spots\"`"),
			"Spec.spots: max-items: an unbounded list: set +kubebuilder:validation:MaxItems",
		},
		"max-length": {
			field(`// name is a name.`, `// +required`, "Name string `json:\"name\"`"),
			"Spec.name: max-length: an unbounded string: set +kubebuilder:validation:MaxLength, Enum or Format",
		},
		"max-length of a named type": {
			field(`// mode is a mode.`, `// +required`, "Mode Mode `json:\"mode\"`") + "\n// Mode is a mode.\ntype Mode string\n",
			"Spec.mode: max-length: an unbounded string: set +kubebuilder:validation:MaxLength, Enum or Format",
		},
		"max-length of a list's items": {
			field(`// names are names.`, `// +required`, `// +listType=set`, `// +kubebuilder:validation:MaxItems=3`, "Names []string `json:\"names\"`"),
			"Spec.names: max-length: unbounded strings in a list: set +kubebuilder:validation:items:MaxLength, Enum or Format",
		},
		"json-name": {
			field(`// Count is a count.`, `// +optional`, "Count *int32 `json:\"Count,omitempty\"`"),
			"Spec.Count: json-name: \"Count\" is not in camelCase",
		},
		"json-name missing": {
			field(`// Count is a count.`, `// +required`, "Count *int32"),
			"Spec.Count: json-name: \"\" is not in camelCase",
		},
		"presence": {
			field(`// count is a count.`, "Count *int32 `json:\"count,omitempty\"`"),
			"Spec.count: presence: mark it with one of +optional and +required",
		},
		"presence, both": {
			field(`// count is a count.`, `// +optional`, `// +required`, "Count *int32 `json:\"count,omitempty\"`"),
			"Spec.count: presence: mark it with one of +optional and +required",
		},
		"omit": {
			field(`// count is a count.`, `// +optional`, "Count *int32 `json:\"count\"`"),
			"Spec.count: omit: an optional field is left out when unset: add omitempty",
		},
		"omit a struct": {
			field(`// spot is a spot.`, `// +optional`, "Spot Spot `json:\"spot,omitempty\"`"),
			"Spec.spot: omit: omitempty never leaves out a struct: add omitzero or make it a pointer",
		},
		"comment": {
			field(`// Count is a count.`, `// +optional`, "Count *int32 `json:\"count,omitempty\"`"),
			"Spec.count: comment: the comment becomes the API reference: start it with \"count \"",
		},
		"no-phase": {
			field(`// phase is a phase.`, `// +optional`, `// +kubebuilder:validation:MaxLength=3`, "Phase string `json:\"phase,omitempty\"`"),
			"Spec.phase: no-phase: a phase is a state machine that clients come to rely on: use conditions",
		},
		"conditions": {
			field(
				`// conditions are conditions.`, `// +optional`, `// +listType=map`, `// +listMapKey=type`, `// +kubebuilder:validation:MaxItems=8`,
				"Conditions []Spot `json:\"conditions,omitempty\"`",
			),
			"Spec.conditions: conditions: want []metav1.Condition with +listType=map and +listMapKey=type, as the first field",
		},
		"conditions as a plain list": {
			field(
				`// conditions are conditions.`, `// +optional`, `// +listType=atomic`, `// +kubebuilder:validation:MaxItems=8`,
				"Conditions []metav1.Condition `json:\"conditions,omitempty\"`",
			),
			"Spec.conditions: conditions: want []metav1.Condition with +listType=map and +listMapKey=type, as the first field",
		},
		"conditions further down": {
			field(
				`// count is a count.`, `// +optional`,
				"Count *int32 `json:\"count,omitempty\"`",
				``, `// conditions are conditions.`, `// +optional`, `// +listType=map`, `// +listMapKey=type`, `// +kubebuilder:validation:MaxItems=8`,
				"Conditions []metav1.Condition `json:\"conditions,omitempty\"`",
			),
			"Spec.conditions: conditions: want []metav1.Condition with +listType=map and +listMapKey=type, as the first field",
		},
		"status": {
			kind("+required", "+kubebuilder:subresource:status"),
			"Thing.status: status: the controller writes it later: mark it +optional",
		},
		"status without its subresource": {
			kind("+optional", ""),
			"Thing.status: status: writing status must not write spec: mark Thing +kubebuilder:subresource:status",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			declared := api{}
			declared.read(t, "bad.go", test.source)
			if diff := cmp.Diff([]string{test.want}, declared.violations()); diff != "" {
				t.Errorf("violations (-want +got):\n%s", diff)
			}
		})
	}
	for _, c := range conventions {
		if _, shown := tests[c.name]; !shown {
			t.Errorf("no test shows that %s is enforced", c.name)
		}
	}
}

func TestGoodTypesPass(t *testing.T) {
	t.Parallel()
	declared := api{}
	declared.read(t, "good.go", kind("+optional", "+kubebuilder:subresource:status")+specWith(
		`// mode is a mode.`, `// +required`, "Mode Mode `json:\"mode\"`", ``,
		`// spots are spots.`, `// +optional`, `// +listType=map`, `// +listMapKey=count`, `// +kubebuilder:validation:MaxItems=3`, "Spots []Spot `json:\"spots,omitempty\"`", ``,
		`// loading is a fraction.`, `// +optional`, "Loading *resource.Quantity `json:\"loading,omitempty\"`",
	)+"\n// Mode is a mode.\n// +kubebuilder:validation:Enum=Shared;Dedicated\ntype Mode string\n")
	if got := declared.violations(); len(got) > 0 {
		t.Errorf("violations: %q", got)
	}
}

// conventions lists the rules on fields. A check gives the message for what it
// refuses, and "" for what it lets pass.
var conventions = []struct {
	name  string
	check func(api, *apiField) string
}{
	{"no-float", func(_ api, f *apiField) string {
		if e := f.element(); e == "float32" || e == "float64" {
			return e + " is rounded differently by every client: use resource.Quantity"
		}
		return ""
	}},
	{"no-map", func(_ api, f *apiField) string {
		if strings.HasPrefix(f.element(), "map[") {
			return "a map cannot grow further fields: use a list with listType=map"
		}
		return ""
	}},
	{"no-bool", func(_ api, f *apiField) string {
		if f.element() == "bool" {
			return "a boolean cannot grow a third choice: use a string with an Enum"
		}
		return ""
	}},
	{"no-duration", func(_ api, f *apiField) string {
		if strings.HasSuffix(f.element(), ".Duration") {
			return "only Go reads durations such as 1h5m: use an integer with the unit in its name"
		}
		return ""
	}},
	{"integer-size", func(_ api, f *apiField) string {
		switch e := f.element(); e {
		case "int", "int8", "int16", "uint", "uint8", "uint16", "uint32", "uint64", "byte", "uintptr":
			return e + " is not portable: use int32 or int64"
		}
		return ""
	}},
	{"quantity-message", func(_ api, f *apiField) string {
		if strings.HasSuffix(f.element(), ".Quantity") && f.marked("kubebuilder:validation:XIntOrString") && !f.marked("kubebuilder:validation:Schemaless") {
			return "for \"NaN\" the API server would print the pattern of quantities in place of the rule's message: set +kubebuilder:validation:Schemaless"
		}
		return ""
	}},
	{"list-type", func(_ api, f *apiField) string {
		if f.isList() && !f.marked("listType=map", "listType=set", "listType=atomic") {
			return "say how two appliers merge the list: +listType=map, set or atomic"
		}
		return ""
	}},
	{"list-map-key", func(_ api, f *apiField) string {
		if f.marked("listType=map") && !f.marked("listMapKey=") {
			return "a list with listType=map needs +listMapKey"
		}
		return ""
	}},
	{"max-items", func(_ api, f *apiField) string {
		if f.isList() && !f.marked("kubebuilder:validation:MaxItems=") {
			return "an unbounded list: set +kubebuilder:validation:MaxItems"
		}
		return ""
	}},
	{"max-length", func(a api, f *apiField) string {
		named := a[f.element()]
		if f.element() != "string" && named.definition != "string" {
			return ""
		}
		prefix, message := "kubebuilder:validation:", "an unbounded string: set +kubebuilder:validation:MaxLength, Enum or Format"
		if f.isList() {
			prefix, message = "kubebuilder:validation:items:", "unbounded strings in a list: set +kubebuilder:validation:items:MaxLength, Enum or Format"
		}
		if f.marked(prefix+"MaxLength=", prefix+"Enum=", prefix+"Format=") ||
			named.marked("kubebuilder:validation:MaxLength=", "kubebuilder:validation:Enum=", "kubebuilder:validation:Format=") {
			return ""
		}
		return message
	}},
	{"json-name", func(_ api, f *apiField) string {
		if !regexp.MustCompile(`^[a-z][a-zA-Z0-9]*$`).MatchString(f.jsonName) {
			return fmt.Sprintf("%q is not in camelCase", f.jsonName)
		}
		return ""
	}},
	{"presence", func(_ api, f *apiField) string {
		if f.marked("optional") == f.marked("required") {
			return "mark it with one of +optional and +required"
		}
		return ""
	}},
	{"omit", func(a api, f *apiField) string {
		switch {
		case !f.marked("optional") || slices.Contains(f.jsonOptions, "omitzero"):
			return ""
		case !slices.Contains(f.jsonOptions, "omitempty"):
			return "an optional field is left out when unset: add omitempty"
		case a[f.definition].fields != nil:
			return "omitempty never leaves out a struct: add omitzero or make it a pointer"
		}
		return ""
	}},
	{"comment", func(_ api, f *apiField) string {
		if !strings.HasPrefix(f.doc, f.name+" ") {
			return fmt.Sprintf("the comment becomes the API reference: start it with %q", f.name+" ")
		}
		return ""
	}},
	{"no-phase", func(_ api, f *apiField) string {
		if strings.EqualFold(f.name, "phase") {
			return "a phase is a state machine that clients come to rely on: use conditions"
		}
		return ""
	}},
	{"conditions", func(_ api, f *apiField) string {
		standard := f.isList() && f.element() == "metav1.Condition" && f.marked("listType=map") && f.marked("listMapKey=type") && f.index == 0
		if f.jsonName == "conditions" && !standard {
			return "want []metav1.Condition with +listType=map and +listMapKey=type, as the first field"
		}
		return ""
	}},
	{"status", func(_ api, f *apiField) string {
		switch {
		case !f.parent.isKind() || f.jsonName != "status":
			return ""
		case !f.marked("optional"):
			return "the controller writes it later: mark it +optional"
		case !f.parent.marked("kubebuilder:subresource:status"):
			return "writing status must not write spec: mark " + f.parent.name + " +kubebuilder:subresource:status"
		}
		return ""
	}},
}

// api holds the types that a package declares, by name.
type api map[string]apiType

// apiType is one declared type, such as "type Mode string".
type apiType struct {
	comment
	name       string
	definition string     // "string"; for a struct its source
	fields     []apiField // of a struct, without the inlined ones
}

// apiField is one field of a struct, such as "Names []string" with its tag.
type apiField struct {
	comment
	name        string // as users write it; the Go name where the tag gives none
	definition  string // "[]string"
	jsonName    string
	jsonOptions []string
	index       int // its place in the struct
	parent      *apiType
}

// isKind reports whether objects of the type can be stored: not a part of one, not a list.
func (t *apiType) isKind() bool {
	return t.marked("kubebuilder:object:root=true") && !t.isListOfKind()
}

func (t *apiType) isListOfKind() bool {
	return slices.ContainsFunc(t.fields, func(f apiField) bool { return f.definition == "metav1.ListMeta" })
}

func (f *apiField) isList() bool { return strings.HasPrefix(f.definition, "[]") }

// element is the type of the field, or that of a list's items, seen through pointers.
func (f *apiField) element() string {
	return strings.TrimLeft(f.definition, "[]*")
}

// read adds the types that a Go file declares; the source is read from the file when it is nil.
func (a api) read(t *testing.T, name string, source any) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), name, source, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range file.Decls {
		declaration, ok := d.(*ast.GenDecl)
		if !ok || declaration.Tok != token.TYPE {
			continue
		}
		for _, s := range declaration.Specs {
			if spec, ok := s.(*ast.TypeSpec); ok {
				a[spec.Name.Name] = newType(spec, declaration.Doc)
			}
		}
	}
}

func newType(spec *ast.TypeSpec, doc *ast.CommentGroup) apiType {
	declared := apiType{comment: newComment(doc), name: spec.Name.Name, definition: types.ExprString(spec.Type)}
	structure, ok := spec.Type.(*ast.StructType)
	if !ok {
		return declared
	}
	for i, f := range structure.Fields.List {
		if field := newField(f); !slices.Contains(field.jsonOptions, "inline") {
			field.index, field.parent = i, &declared
			declared.fields = append(declared.fields, field)
		}
	}
	return declared
}

func newField(source *ast.Field) apiField {
	f := apiField{comment: newComment(source.Doc), definition: types.ExprString(source.Type)}
	if source.Tag != nil {
		tag := reflect.StructTag(strings.Trim(source.Tag.Value, "`")).Get("json")
		options := strings.Split(tag, ",")
		f.jsonName, f.jsonOptions = options[0], options[1:]
	}
	f.name = f.jsonName
	if f.name == "" && len(source.Names) > 0 {
		f.name = source.Names[0].Name
	}
	return f
}

// violations lists what the conventions refuse, sorted, as "type.field: rule: message".
func (a api) violations() []string {
	var found []string
	for _, t := range a {
		if t.isListOfKind() {
			continue // its shape is Kubernetes's
		}
		for _, f := range t.fields {
			for _, c := range conventions {
				if message := c.check(a, &f); message != "" {
					found = append(found, fmt.Sprintf("%s.%s: %s: %s", t.name, f.name, c.name, message))
				}
			}
		}
	}
	slices.Sort(found)
	return found
}

// comment is what stands above a declaration: prose and markers.
type comment struct {
	doc     string
	markers []string // without their plus sign
}

func newComment(group *ast.CommentGroup) comment {
	c := comment{doc: group.Text()}
	for line := range strings.Lines(c.doc) {
		if marker, ok := strings.CutPrefix(line, "+"); ok {
			c.markers = append(c.markers, strings.TrimSpace(marker))
		}
	}
	return c
}

// marked reports whether one of the markers is there: exactly as given, or with
// any value for those that end in "=".
func (c comment) marked(oneOf ...string) bool {
	return slices.ContainsFunc(c.markers, func(marker string) bool {
		return slices.ContainsFunc(oneOf, func(want string) bool {
			return marker == want || strings.HasSuffix(want, "=") && strings.HasPrefix(marker, want)
		})
	})
}

// field is the source of a package with a Spec that has the given field, and a Spot for it to refer to.
func field(lines ...string) string {
	return "package bad\n" + specWith(lines...)
}

func specWith(lines ...string) string {
	return `
// Spot is a spot.
type Spot struct {
	// count is a count.
	// +required
	Count *int32 ` + "`json:\"count\"`" + `
}

// Spec is a spec.
type Spec struct {
	` + strings.Join(lines, "\n\t") + `
}
`
}

// kind is the source of a package with a kind, whose status and type have the given markers.
func kind(onStatus, onType string) string {
	return `package bad

// Thing is a thing.
// +kubebuilder:object:root=true
// ` + onType + `
type Thing struct {
	metav1.TypeMeta ` + "`json:\",inline\"`" + `

	// status is a status.
	// ` + onStatus + `
	Status *Spot ` + "`json:\"status,omitempty\"`" + `
}
`
}
