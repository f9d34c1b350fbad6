package validate_test

import (
	"encoding/json"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"loadline.dev/loadline/config/crd"
	"loadline.dev/loadline/pkg/validate"
	"loadline.dev/loadline/test/manifests"
)

// answerTo checks one object.
func answerTo(t *testing.T, rules *validate.Rules, object map[string]any) *validate.Answer {
	t.Helper()
	text, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := rules.Check(t.Context(), validate.Input{Documents: []validate.Document{{Place: validate.Place{File: "a.json", Document: 1, Line: 1}, Text: text}}})
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

// everyMutation is which of the mistakes are tried. All of them take half a minute:
// test/integration has a flag for that, and asks a real API server.
const everyMutation = 19

// A manifest in which all advice is followed is not refused.
func TestAdviceIsRight(t *testing.T) {
	t.Parallel()
	objects, err := manifests.Objects()
	if err != nil {
		t.Fatal(err)
	}
	rules, err := validate.Load()
	if err != nil {
		t.Fatal(err)
	}
	number, mistakes, refused, advised := 0, 0, 0, 0
	for _, object := range objects {
		if answer := answerTo(t, rules, object); answer.Refused > 0 {
			t.Errorf("refused as it is: %+v", answer.Findings)
		}
		for what, mutated := range manifests.Mutations(object) {
			if number++; number%everyMutation != 0 {
				continue
			}
			mistakes++
			answer := answerTo(t, rules, mutated)
			if answer.Refused == 0 {
				continue
			}
			refused++
			mended, complete := followed(t, mutated, answer)
			if !complete {
				continue
			}
			advised++
			if again := answerTo(t, rules, mended); again.Refused > 0 {
				t.Errorf("%s\nadvice %+v\nand then %+v", what, answer.Findings, again.Findings)
			}
		}
	}
	t.Logf("%d mistakes, %d refused, %d of them with advice on all that is wrong", mistakes, refused, advised)
	if refused < mistakes/2 || advised < mistakes/20 {
		t.Errorf("%d of %d mistakes are refused, and %d can be mended as advised: the test shows little", refused, mistakes, advised)
	}
}

// followed returns the object as advised, and whether there is advice for everything.
func followed(t *testing.T, object map[string]any, answer *validate.Answer) (mended map[string]any, complete bool) {
	t.Helper()
	mended = runtime.DeepCopyJSON(object)
	for _, f := range answer.Findings {
		if f.By != validate.ByAPIServer || f.Level != validate.Error {
			continue
		}
		if f.Problem == "" {
			t.Errorf("a finding that says nothing: %+v", f)
		}
		if f.WriteInstead == "" && !f.Remove {
			return nil, false
		}
		if err := manifests.Follow(mended, f.Field, f.WriteInstead); err != nil {
			t.Fatalf("%+v: %v", f, err)
		}
	}
	return mended, true
}

// The objects that are mutated have every field of the specs, so that a new field is
// mutated, too.
func TestEveryFieldIsMutated(t *testing.T) {
	t.Parallel()
	objects, err := manifests.Objects()
	if err != nil {
		t.Fatal(err)
	}
	files, err := crd.Files.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := crd.Files.ReadFile(file.Name())
		if err != nil {
			t.Fatal(err)
		}
		var d apiextensionsv1.CustomResourceDefinition
		if err := yaml.UnmarshalStrict(text, &d); err != nil {
			t.Fatal(err)
		}
		var specs []any
		for _, o := range objects {
			if o["kind"] == d.Spec.Names.Kind {
				specs = append(specs, o["spec"])
			}
		}
		spec := d.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
		absent(t, d.Spec.Names.Kind+" spec", &spec, specs)
	}
}

// absent reports the fields of a schema that none of some values has.
func absent(t *testing.T, at string, schema *apiextensionsv1.JSONSchemaProps, values []any) {
	t.Helper()
	if len(values) == 0 {
		t.Errorf("no object has %s: add it to test/manifests/every.yaml", at)
		return
	}
	if schema.Items != nil {
		var items []any
		for _, v := range values {
			list, _ := v.([]any)
			items = append(items, list...)
		}
		absent(t, at+"[]", schema.Items.Schema, items)
	}
	for name, property := range schema.Properties {
		var below []any
		for _, v := range values {
			fields, _ := v.(map[string]any)
			if value, there := fields[name]; there {
				below = append(below, value)
			}
		}
		absent(t, at+"."+name, &property, below)
	}
}
