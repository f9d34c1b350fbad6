package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

// kind is a kind of objects.
type kind struct {
	name, plural string
	shortNames   []string
	apiVersion   string
	namespaced   bool
	description  string
	fields       []*field // spec and status
	rules        []string // of the whole object
	columns      []apiextensionsv1.CustomResourceColumnDefinition
	samples      []string // files in config/samples
}

// readKinds reads the kinds of the CRDs in config/crd, by name of their files.
func readKinds(root string) ([]*kind, error) {
	files, err := filepath.Glob(filepath.Join(root, "config", "crd", "loadline.dev_*.yaml"))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s has no config/crd/loadline.dev_*.yaml: run in the root of the repository", root)
	}
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	var kinds []*kind
	var errs []error
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		found, err := readCRD(text, func(gvk schema.GroupVersionKind) (reflect.Type, error) {
			object, err := scheme.New(gvk)
			return reflect.TypeOf(object), err
		})
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", filepath.Base(file), err))
			continue
		}
		samples, err := filepath.Glob(filepath.Join(root, "config", "samples", strings.ToLower(found.name)+"*.yaml"))
		errs = append(errs, err)
		for _, sample := range samples {
			found.samples = append(found.samples, filepath.Base(sample))
		}
		kinds = append(kinds, found)
	}
	return kinds, errors.Join(errs...)
}

// readCRD reads a kind from its CRD. goType tells the Go type of its objects.
func readCRD(text []byte, goType func(schema.GroupVersionKind) (reflect.Type, error)) (*kind, error) {
	var crd apiextensionsv1.CustomResourceDefinition
	if err := yaml.UnmarshalStrict(text, &crd); err != nil {
		return nil, err
	}
	if len(crd.Spec.Versions) != 1 {
		return nil, fmt.Errorf("the reference shows one version of a kind, this has %d", len(crd.Spec.Versions))
	}
	version := &crd.Spec.Versions[0]
	gvk := schema.GroupVersionKind{Group: crd.Spec.Group, Version: version.Name, Kind: crd.Spec.Names.Kind}
	t, err := goType(gvk)
	if err != nil {
		return nil, err
	}
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	top := version.Schema.OpenAPIV3Schema
	if top.Description == "" {
		return nil, fmt.Errorf("%s: the kind does not say what it is: comment it in apis/loadline/v1alpha1", gvk.Kind)
	}
	fields, err := newFields("", top, t)
	if err != nil {
		return nil, err
	}
	return &kind{
		name: gvk.Kind, plural: crd.Spec.Names.Plural, shortNames: crd.Spec.Names.ShortNames,
		apiVersion: gvk.GroupVersion().String(), namespaced: crd.Spec.Scope == apiextensionsv1.NamespaceScoped,
		description: top.Description, fields: fields, rules: validations(top), columns: version.AdditionalPrinterColumns,
	}, nil
}

// summary is the first sentence of the kind's description.
func (k *kind) summary() string {
	paragraph, _, _ := strings.Cut(k.description, "\n\n")
	paragraph = strings.Join(strings.Fields(paragraph), " ")
	if end := strings.Index(paragraph, ". "); end >= 0 {
		return paragraph[:end+1]
	}
	return paragraph
}

// conditionTypes returns what the kind says of its conditions.
func (k *kind) conditionTypes() string {
	for _, f := range k.fields {
		for _, below := range f.fields {
			if below.path == "status.conditions" {
				return below.description
			}
		}
	}
	return ""
}
