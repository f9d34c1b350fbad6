package manifests_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"loadline.dev/loadline/config/crd"
	"loadline.dev/loadline/pkg/probe/result"
)

// namesOf returns the sorted names of the standard jobs that are chosen.
func namesOf(chosen func(result.StandardJob) bool) []string {
	var names []string
	for _, job := range result.StandardJobs() {
		if chosen(job) {
			names = append(names, job.Name)
		}
	}
	return slices.Sorted(slices.Values(names))
}

func measures(job result.StandardJob) bool { return job.Resource != "" }
func presses(job result.StandardJob) bool  { return job.Interference != "" }

// jobField is an object of the API that names a standard job.
type jobField struct {
	path  string
	jobs  []string // that it may name
	rules apiextensionsv1.ValidationRules
}

// jobFields returns the objects in a schema that name standard jobs.
func jobFields(path string, schema *apiextensionsv1.JSONSchemaProps) []jobField {
	var all []jobField
	for name, property := range schema.Properties {
		if name == "job" && len(property.Enum) > 0 {
			field := jobField{path: path, rules: schema.XValidations}
			for _, value := range property.Enum {
				field.jobs = append(field.jobs, strings.Trim(string(value.Raw), `"`))
			}
			slices.Sort(field.jobs)
			all = append(all, field)
		}
		all = append(all, jobFields(path+"."+name, &property)...)
	}
	if schema.Items != nil && schema.Items.Schema != nil {
		all = append(all, jobFields(path, schema.Items.Schema)...)
	}
	return all
}

func TestTheEnumerationsOfTheAPIAreTheStandardJobsOfTheTable(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, kind := range []string{"nodeprofiles", "workloadprofiles"} {
		text, err := crd.Files.ReadFile("loadline.dev_" + kind + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		var definition apiextensionsv1.CustomResourceDefinition
		if err := yaml.UnmarshalStrict(text, &definition); err != nil {
			t.Fatal(err)
		}
		for _, field := range jobFields(kind, definition.Spec.Versions[0].Schema.OpenAPIV3Schema) {
			seen[field.path] = true
			chosen, unnamed := measures, slices.Sorted(slices.Values(resources()))
			if strings.HasSuffix(field.path, ".interference") {
				chosen, unnamed = presses, namesOf(func(job result.StandardJob) bool { return job.Interference == job.Name })
			}
			if diff := cmp.Diff(namesOf(chosen), field.jobs); diff != "" {
				t.Errorf("%s.job (-table +API):\n%s", field.path, diff)
			}
			for _, rule := range field.rules {
				checkRule(t, field.path, rule, namesOf(chosen), unnamed)
			}
		}
	}
	for _, path := range []string{
		"nodeprofiles.spec.calibration.resources", "nodeprofiles.status.resources",
		"workloadprofiles.spec.measurement.resources", "workloadprofiles.spec.measurement.interference",
	} {
		if !seen[path] {
			t.Errorf("%s names no standard job; those that do are %v", path, seen)
		}
	}
}

// resources returns the resources that a standard job keeps busy.
func resources() []string {
	var names []string
	for _, job := range result.StandardJobs() {
		if job.Resource != "" && !slices.Contains(names, job.Resource) {
			names = append(names, job.Resource)
		}
	}
	return names
}

// checkRule checks a rule about the job of a resource: unless the job is given the resource has to be one of those that name
// one, the message lists all jobs, and those with a peer are those that send to one.
func checkRule(t *testing.T, path string, rule apiextensionsv1.ValidationRule, jobs, unnamed []string) {
	t.Helper()
	quoted := regexp.MustCompile(`'([^']*)'`)
	var named []string
	for _, match := range quoted.FindAllStringSubmatch(rule.Rule, -1) {
		named = append(named, match[1])
	}
	slices.Sort(named)
	switch rule.FieldPath {
	case ".job":
		if diff := cmp.Diff(unnamed, named); diff != "" {
			t.Errorf("%s: resources that need no job (-table +rule):\n%s", path, diff)
		}
		_, list, _ := strings.Cut(rule.Message, ": ")
		said := slices.Sorted(slices.Values(strings.Split(strings.ReplaceAll(list, " or ", ", "), ", ")))
		if diff := cmp.Diff(jobs, said); diff != "" {
			t.Errorf("%s: jobs (-table +message):\n%s", path, diff)
		}
	case ".peer":
		if diff := cmp.Diff(namesOf(func(job result.StandardJob) bool { return job.Peer }), named); diff != "" {
			t.Errorf("%s: jobs with a peer (-table +rule):\n%s", path, diff)
		}
	}
}

func TestTheAPIHasAConstantForEachStandardJob(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(token.NewFileSet(), "../../apis/loadline/v1alpha1/measurement_types.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var constants []string
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok && strings.HasPrefix(spec.Names[0].Name, "Probe") {
			if literal, ok := spec.Values[0].(*ast.BasicLit); ok {
				value, err := strconv.Unquote(literal.Value)
				if err != nil {
					t.Error(err)
				}
				constants = append(constants, value)
			}
		}
		return true
	})
	if diff := cmp.Diff(result.Jobs(), constants); diff != "" {
		t.Errorf("standard jobs (-table +constants):\n%s", diff)
	}
}
