package validate

import (
	"context"
	"fmt"
	"maps"
	"slices"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	metavalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/storage/names"
)

// refusal is one reason of the API server to refuse an object.
type refusal struct {
	*field.Error

	unknown bool // the field is none of the kind's
}

// admission is the API server's result for an object.
type admission struct {
	object   map[string]any // pruned and with its defaults, if nothing is refused
	refusals []refusal
	// blocked reports whether the rules in CEL were not applied: the API server does
	// not when types are wrong, fields missing or lists too long.
	blocked bool
}

// Admit returns an object as the API server would store it, pruned and with its defaults,
// or why it would refuse it. The error says that the object is of no kind of the API.
func (all *Rules) Admit(ctx context.Context, written map[string]any) (admitted map[string]any, refused field.ErrorList, err error) {
	kind := (&unstructured.Unstructured{Object: written}).GroupVersionKind()
	compiled, known := all.kinds[kind]
	if !known {
		return nil, nil, fmt.Errorf("%v is no kind of the API", kind)
	}
	d, err := compiled()
	if err != nil {
		return nil, nil, err
	}
	a := d.admit(ctx, written, metav1.NamespaceDefault)
	for _, r := range a.refusals {
		refused = append(refused, r.Error)
	}
	return a.object, refused, nil
}

// admit decides on creating an object as the API server does that is asked to validate
// fields strictly, in the order in which it does. Unlike the API server it goes on
// after unknown fields. The object is not changed.
//
// It follows the handler of custom resources in k8s.io/apiextensions-apiserver, which
// is not exported: unstructuredSchemaCoercer, customResourceStrategy.
func (d *definition) admit(ctx context.Context, written map[string]any, namespace string) admission {
	var a admission
	u := &unstructured.Unstructured{Object: written}
	u = u.DeepCopy()
	if !a.coerce(d, u) {
		return a
	}
	defaulting.Default(u.Object, d.schema)
	d.prepare(u, namespace)

	a.refuse(metavalidation.ValidateObjectMetaAccessor(u, d.namespaced, metavalidation.NameIsDNSSubdomain, field.NewPath("metadata"))...)
	a.refuse(validation.ValidateCustomResource(nil, u.Object, d.validator)...)
	a.refuse(objectmeta.Validate(ctx, nil, u.Object, d.schema, false)...)
	a.refuse(listtype.ValidateListSetsAndMaps(nil, d.schema, u.Object)...)
	a.blocked = a.blocks()
	if d.rules != nil && !a.blocked {
		errs, _ := d.rules.Validate(ctx, nil, d.schema, u.Object, nil, celconfig.RuntimeCELCostBudget)
		a.refuse(errs...)
	}
	a.object = u.Object
	return a
}

func (a *admission) refuse(errs ...*field.Error) {
	for _, err := range errs {
		a.refusals = append(a.refusals, refusal{Error: err})
	}
}

// coerce removes unknown fields and nulls, and reports whether the metadata could be
// read.
func (a *admission) coerce(d *definition, u *unstructured.Unstructured) bool {
	kind, version := u.GetKind(), u.GetAPIVersion()
	meta, found, unknown, err := objectmeta.GetObjectMetaWithOptions(u.Object, objectmeta.ObjectMetaOptions{ReturnUnknownFieldPaths: true})
	if err != nil {
		a.refuse(metadataErrors(u.Object["metadata"], err)...)
		return false
	}
	unknown = append(unknown, pruning.PruneWithOptions(u.Object, d.schema, true, structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})...)
	defaulting.PruneNonNullableNullsWithoutDefaults(u.Object, d.schema)
	for _, path := range unknown {
		a.refusals = append(a.refusals, refusal{Error: &field.Error{Type: field.ErrorTypeForbidden, Field: path, Detail: "unknown field"}, unknown: true})
	}
	u.SetKind(kind)
	u.SetAPIVersion(version)
	if !found {
		return true
	}
	if err := objectmeta.SetObjectMeta(u.Object, meta); err != nil {
		a.refuse(metadataErrors(u.Object["metadata"], err)...)
		return false
	}
	return true
}

// metadataErrors names the fields of metadata that are no strings where they should be,
// which the API server does not when it cannot read metadata.
func metadataErrors(metadata any, err error) (errs field.ErrorList) {
	const deepest = 3 // metadata.labels[app]: below there are no fields of metadata to be strings
	root := path{"metadata"}
	var visit func(p path, value any)
	visit = func(p path, value any) {
		if wantsString(p, value) {
			errs = append(errs, &field.Error{Type: field.ErrorTypeTypeInvalid, Field: p.String(), BadValue: value, Detail: err.Error()})
		}
		fields, _ := value.(map[string]any)
		if len(p) == deepest {
			return
		}
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			visit(p.child(name), fields[name])
		}
	}
	visit(root, metadata)
	if len(errs) == 0 {
		errs = append(errs, &field.Error{Type: field.ErrorTypeTypeInvalid, Field: root.String(), BadValue: metadata, Detail: err.Error()})
	}
	return errs
}

// wantsString reports whether a value is none where metadata has strings.
func wantsString(p path, value any) bool {
	if _, is := value.(string); is || value == nil || len(p) < 2 || p[0] != "metadata" {
		return false
	}
	switch p[1] {
	case "name", "namespace", "generateName":
		return len(p) == 2
	case "labels", "annotations":
		return len(p) == 3
	}
	return false
}

// prepare sets the fields that the API server sets in a new object before it validates
// it. An object that does not name its namespace goes to the one of the request.
func (d *definition) prepare(u *unstructured.Unstructured, namespace string) {
	delete(u.Object, "status") // it is a subresource of every kind
	u.SetGeneration(1)
	u.SetManagedFields(nil)
	switch {
	case !d.namespaced:
		u.SetNamespace("")
	case u.GetNamespace() == "":
		u.SetNamespace(namespace)
	}
	if u.GetName() == "" && u.GetGenerateName() != "" {
		u.SetName(names.SimpleNameGenerator.GenerateName(u.GetGenerateName()))
	}
}

// blocks reports whether the API server skips the rules in CEL, because of earlier
// refusals.
func (a *admission) blocks() bool {
	for _, r := range a.refusals {
		switch r.Type { //nolint:exhaustive // others do not
		case field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong, field.ErrorTypeTooMany, field.ErrorTypeTypeInvalid:
			return true
		}
	}
	return false
}
