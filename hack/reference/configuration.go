package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"loadline.dev/loadline/apis/config/v1alpha1"
	"loadline.dev/loadline/hack/reference/markdown"
)

// configurationExample is where the arguments are written.
const configurationExample = `apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection:
  resourceName: loadline-scheduler
profiles:
- schedulerName: loadline
  plugins:
    queueSort: # only where pods that wait are to go in the order of their SLAs
      disabled: [{name: PrioritySort}]
      enabled: [{name: SLAOrder}]
    multiPoint:
      enabled: [{name: Dilation, weight: 10}]
    preScore:
      disabled: [{name: NodeResourcesFit}, {name: NodeResourcesBalancedAllocation}]
    score:
      disabled: [{name: NodeResourcesFit}, {name: NodeResourcesBalancedAllocation}]
  pluginConfig:
  - name: Dilation
    args:
      apiVersion: config.loadline.dev/v1alpha1
      kind: DilationArgs
      requests:
      - {resource: cpu, utilization: "0.5", minimum: 100m}
      - {resource: gpu, request: nvidia.com/gpu}
      syncTimeoutSeconds: 30
  - name: SLAOrder
    args:
      apiVersion: config.loadline.dev/v1alpha1
      kind: SLAOrderArgs
      discipline: PDP
      maxWaitSeconds: 600
`

// addConfiguration adds the page of the scheduler plugin's arguments.
func (b book) addConfiguration(root string) error {
	source, err := os.ReadFile(filepath.Join(root, "apis", "config", "v1alpha1", "types.go"))
	if err != nil {
		return err
	}
	structs, err := parseStructs(source)
	if err != nil {
		return err
	}
	dilation, order := v1alpha1.DilationArgs{}, v1alpha1.SLAOrderArgs{}
	dilation.SetDefaults()
	order.SetDefaults()
	ofDilation, errDilation := yaml.Marshal(&dilation)
	ofOrder, errOrder := yaml.Marshal(&order)
	if err := errors.Join(errDilation, errOrder); err != nil {
		return err
	}
	page := markdown.NewPage("Configuration")
	page.Add(
		"`loadline-scheduler` reads the configuration of kube-scheduler, a `KubeSchedulerConfiguration`, from the file that `--config` names; Kubernetes "+
			markdown.Link("documents it", "https://kubernetes.io/docs/reference/config-api/kube-scheduler-config.v1/")+
			". The arguments of Loadline's plugins stand in it under `pluginConfig`. They are `"+v1alpha1.GroupVersion.String()+
			"`, and what is unknown or breaks a rule is refused at start-up, with the field, the value and the rule.",
		"The values of the chart, which writes that file, are with the "+markdown.Link("chart", "../../charts/loadline/README.md#values")+".",
	)
	page.Heading(2, "Example", "example")
	page.Add(markdown.Block("yaml", configurationExample))
	page.Heading(2, "Defaults", "defaults")
	page.Add("Left out, the arguments of `Dilation` are:", markdown.Block("yaml", string(ofDilation)),
		"and those of `SLAOrder`:", markdown.Block("yaml", string(ofOrder)))
	for _, s := range structs {
		page.Heading(2, s.name, markdown.Slug(s.name))
		page.Add(s.render(structs))
	}
	b.add("configuration.md", page)
	return nil
}

// structure is a struct that users write in JSON or YAML.
type structure struct {
	name, about string
	fields      []member
}

// member is a field of it.
type member struct{ name, goType, about string }

// parseStructs reads the structs of a Go file. It fails if one of them, or a field,
// does not say what it is.
func parseStructs(source []byte) ([]structure, error) {
	parsed, err := parser.ParseFile(token.NewFileSet(), "types.go", source, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	var found []structure
	var errs []error
	for _, d := range parsed.Decls {
		declared, ok := d.(*ast.GenDecl)
		if !ok || declared.Tok != token.TYPE {
			continue
		}
		for _, s := range declared.Specs {
			spec, isType := s.(*ast.TypeSpec)
			if !isType {
				continue
			}
			body, isStruct := spec.Type.(*ast.StructType)
			if !isStruct {
				continue
			}
			one, err := newStructure(spec.Name.Name, withoutMarkers(declared.Doc.Text()), body)
			errs = append(errs, err)
			found = append(found, one)
		}
	}
	return found, errors.Join(errs...)
}

func newStructure(name, about string, body *ast.StructType) (structure, error) {
	s := structure{name: name, about: about}
	var errs []error
	if about == "" {
		errs = append(errs, fmt.Errorf("%s: the type does not say what it is: comment it", name))
	}
	for _, f := range body.Fields.List {
		tag := reflect.StructTag("")
		if f.Tag != nil {
			tag = reflect.StructTag(strings.Trim(f.Tag.Value, "`"))
		}
		jsonName, options, _ := strings.Cut(tag.Get("json"), ",")
		if jsonName == "" && strings.Contains(options, "inline") {
			continue // apiVersion and kind
		}
		m := member{name: jsonName, goType: strings.TrimPrefix(types.ExprString(f.Type), "*"), about: withoutMarkers(f.Doc.Text())}
		if m.name == "" || m.about == "" {
			errs = append(errs, fmt.Errorf("%s.%s: want a name in JSON and a comment that says what it means", name, fieldName(f)))
		}
		s.fields = append(s.fields, m)
	}
	return s, errors.Join(errs...)
}

func fieldName(f *ast.Field) string {
	if len(f.Names) == 0 {
		return types.ExprString(f.Type)
	}
	return f.Names[0].Name
}

// withoutMarkers is a comment without the lines that are for generators.
func withoutMarkers(comment string) string {
	var b strings.Builder
	for line := range strings.Lines(comment) {
		if !strings.HasPrefix(line, "+") {
			b.WriteString(line)
		}
	}
	return strings.TrimSpace(b.String())
}

// render describes the struct. Types link to the other structs.
func (s *structure) render(all []structure) string {
	var rows [][]string
	for _, m := range s.fields {
		rows = append(rows, []string{
			markdown.Anchor(strings.ToLower(s.name+"-"+m.name)) + markdown.Code(m.name), m.typeIn(all), named(m.name, m.about, markdown.Cell),
		})
	}
	return markdown.Prose(s.about) + "\n\n" + markdown.Table([]string{"Field", "Type", "What it means"}, rows...)
}

// typeIn says the type of a field in words.
func (m *member) typeIn(all []structure) string {
	element, isList := strings.CutPrefix(m.goType, "[]")
	of, known := map[string]words{
		"string": scalars["string"], "corev1.ResourceName": scalars["string"], "bool": scalars["boolean"],
		"int32": scalars["integer"], "int64": scalars["integer"], "resource.Quantity": {one: "quantity", many: "quantities", anchor: "quantities"},
	}[strings.TrimPrefix(element, "*")]
	if !known {
		of = words{one: element, many: element}
	}
	text := of.one
	if isList {
		text = of.many
	}
	switch {
	case of.anchor != "":
		text = markdown.Link(text, "api.md#"+of.anchor)
	case slices.ContainsFunc(all, func(s structure) bool { return s.name == element }):
		text = markdown.Link(text, "#"+markdown.Slug(element))
	}
	if isList {
		return "list of " + text
	}
	return text
}
