package validate

import (
	"fmt"
	"slices"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"

	"loadline.dev/loadline/config/crd"
)

// definition holds the rules of one kind, ready to be applied.
type definition struct {
	kind       schema.GroupVersionKind
	namespaced bool
	schema     *structuralschema.Structural
	validator  validation.SchemaCreateValidator
	rules      *cel.Validator // nil where there is none
}

// Rules holds the rules of the kinds of the API. Those of a kind are compiled when the
// first object of it is met. They may be used by several goroutines at once.
type Rules struct {
	kinds map[schema.GroupVersionKind]func() (*definition, error)
}

// Load reads the CustomResourceDefinitions that the program holds.
func Load() (*Rules, error) {
	files, err := crd.Files.ReadDir(".")
	if err != nil {
		return nil, err
	}
	all := &Rules{kinds: map[schema.GroupVersionKind]func() (*definition, error){}}
	for _, file := range files {
		text, err := crd.Files.ReadFile(file.Name())
		if err != nil {
			return nil, err
		}
		var d apiextensionsv1.CustomResourceDefinition
		if err := yaml.UnmarshalStrict(text, &d); err != nil { //nolint:forbidigo // the program holds it
			return nil, fmt.Errorf("%s: %w", file.Name(), err)
		}
		for i := range d.Spec.Versions {
			kind := schema.GroupVersionKind{Group: d.Spec.Group, Version: d.Spec.Versions[i].Name, Kind: d.Spec.Names.Kind}
			all.kinds[kind] = sync.OnceValues(func() (*definition, error) { return compile(kind, &d, &d.Spec.Versions[i]) })
		}
	}
	return all, nil
}

// compile compiles the rules of one version of a kind, as the API server does.
func compile(kind schema.GroupVersionKind, d *apiextensionsv1.CustomResourceDefinition, version *apiextensionsv1.CustomResourceDefinitionVersion) (*definition, error) {
	var internal apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(version.Schema.OpenAPIV3Schema, &internal, nil); err != nil {
		return nil, fmt.Errorf("%s: %w", kind.Kind, err)
	}
	structural, err := structuralschema.NewStructural(&internal)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", kind.Kind, err)
	}
	validator, _, err := validation.NewSchemaValidator(&internal)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", kind.Kind, err)
	}
	return &definition{
		kind: kind, namespaced: d.Spec.Scope == apiextensionsv1.NamespaceScoped,
		schema: structural, validator: validator, rules: cel.NewValidator(structural, true, celconfig.PerCallLimit),
	}, nil
}

// names returns the names of the kinds.
func (all *Rules) names() []string {
	var names []string
	for kind := range all.kinds {
		names = append(names, kind.Kind)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
