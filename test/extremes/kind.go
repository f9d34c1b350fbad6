package extremes

import (
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"loadline.dev/loadline/config/crd"
	"loadline.dev/loadline/pkg/validate"
)

// Kind is a kind of the API: its schema, and what is admitted.
type Kind struct {
	Name string

	spec  apiextensionsv1.JSONSchemaProps
	rules *validate.Rules
}

// Of returns a kind, such as "ShareTree", by its CustomResourceDefinition.
func Of(name string) (*Kind, error) {
	rules, err := validate.Load()
	if err != nil {
		return nil, err
	}
	files, err := crd.Files.ReadDir(".")
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		text, err := crd.Files.ReadFile(file.Name())
		if err != nil {
			return nil, err
		}
		var d apiextensionsv1.CustomResourceDefinition
		if err := yaml.UnmarshalStrict(text, &d); err != nil {
			return nil, fmt.Errorf("%s: %w", file.Name(), err)
		}
		if d.Spec.Names.Kind == name {
			return &Kind{Name: name, spec: d.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"], rules: rules}, nil
		}
	}
	return nil, fmt.Errorf("kind %q: there is no such CustomResourceDefinition", name)
}

// GroupVersionKind returns what objects of the kind say that they are.
func (k *Kind) GroupVersionKind() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: "loadline.dev", Version: "v1alpha1", Kind: k.Name}
}
