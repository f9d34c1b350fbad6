package validate

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"loadline.dev/loadline/apis/decode"
	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

// object is an object of a kind of the API, with its problems.
type object struct {
	value

	definition *definition
	name       ObjectName
	// mended is the object as written, with the advice followed so far.
	mended map[string]any
	// renamed are the fields that have another name in it, by that name.
	renamed  map[string]string
	findings []*Finding
	refused  bool // by the API server, as it is written
	// admitted is the mended object as the API server would store it, nil if it refuses that
	// too.
	admitted map[string]any
	more     int  // errors beyond the findings
	trials   *int // that are left, in values that are looked at
	values   int  // in the object
}

// maxPasses bounds how many times an object is mended and looked at again.
const maxPasses = 10

// maxProblems bounds how many fields of an object are explained at a time.
const maxProblems = 20

// admit finds the API server's objections to the object, and what to write instead. Where
// there is advice for everything, the object is admitted as advised.
func (o *object) admit(ctx context.Context, namespace string) {
	written, _ := o.json.(map[string]any)
	o.mended, o.renamed, o.values = runtime.DeepCopyJSON(written), map[string]string{}, valuesIn(written)
	for pass := range maxPasses {
		a := o.definition.admit(ctx, o.mended, namespace)
		o.refused = o.refused || len(a.refusals) > 0
		if len(a.refusals) == 0 {
			o.admitted = a.object
			return
		}
		mended := false
		all := causes(groups(a.refusals))
		if pass == 0 {
			o.more = max(0, len(all)-maxProblems)
		}
		for _, g := range all[:min(maxProblems, len(all))] {
			mended = o.report(ctx, g, namespace) || mended
		}
		if !mended {
			if a.blocked {
				o.note("more rules apply once this is mended")
			}
			return
		}
	}
}

// group holds the refusals of one field.
type group struct {
	path     path
	refusals []refusal
}

// groups sorts refusals by field, in the order in which they came. It leaves out those of
// no field where others are of one: they say the same with less words for it.
func groups(refusals []refusal) []*group {
	of := slices.DeleteFunc(slices.Clone(refusals), func(r refusal) bool { return len(parsePath(r.Field)) == 0 })
	if len(of) > 0 {
		refusals = of
	}
	var all []*group
	byField := map[string]*group{}
	for _, r := range refusals {
		g := byField[r.Field]
		if g == nil {
			g = &group{path: parsePath(r.Field)}
			byField[r.Field], all = g, append(all, g)
		}
		g.refusals = append(g.refusals, r)
	}
	return all
}

// causes leaves out what may be but the consequence of something else: first unknown
// fields are looked at, which may be others that are missing, and a value after what is
// wrong within it.
func causes(all []*group) []*group {
	unknown := func(g *group) bool { return g.refusals[0].unknown }
	if slices.ContainsFunc(all, unknown) {
		return slices.DeleteFunc(all, func(g *group) bool { return !unknown(g) })
	}
	above := map[string]bool{} // the paths that lead to another group
	for _, g := range all {
		for p := g.path; len(p) > 0; {
			if p = p.parent(); above[p.String()] {
				break
			}
			above[p.String()] = true
		}
	}
	var first []*group
	for _, g := range all {
		if !above[g.path.String()] {
			first = append(first, g)
		}
	}
	return first
}

// report adds a finding, or what more is wrong with a field that was mended already,
// and reports whether it mended the object.
func (o *object) report(ctx context.Context, g *group, namespace string) bool {
	problem := o.explain(g)
	at := g.path.String()
	if before, ok := o.renamed[at]; ok {
		at = before
	}
	i := slices.IndexFunc(o.findings, func(f *Finding) bool { return f.Field == at })
	if i < 0 {
		f := o.at(g.path, problem)
		o.findings, i = append(o.findings, &f), len(o.findings)
	} else if !strings.Contains(o.findings[i].Problem, problem) {
		o.findings[i].Problem += "; " + problem
	}
	f := o.findings[i]
	f.WriteInstead, f.Remove = "", false
	further := ""
	for _, c := range o.candidates(g) {
		if *o.trials -= o.values; *o.trials < 0 {
			break
		}
		tried := *o
		tried.mended = runtime.DeepCopyJSON(o.mended)
		if !c.apply(tried.mended) {
			continue
		}
		still := tried.against(ctx, namespace, g.path, c.at())
		if still == nil {
			f.WriteInstead, f.Remove = c.text(), c.value == nil
			o.mended = tried.mended
			if c.rename != "" {
				o.renamed[c.at().String()] = at
			}
			return true
		}
		if further == "" && c.rename == "" && !o.fits(g.path) {
			further = tried.explain(still)
		}
	}
	if further != "" {
		f.Problem += "; " + further
	}
	return false
}

// against returns the API server's objection to one of some fields, nil for none.
func (o *object) against(ctx context.Context, namespace string, fields ...path) *group {
	for _, g := range groups(o.definition.admit(ctx, o.mended, namespace).refusals) {
		if slices.ContainsFunc(fields, g.path.within) {
			return g
		}
	}
	return nil
}

// fits reports whether a field has a value of the right type.
func (o *object) fits(p path) bool {
	v, there := p.in(o.mended)
	schema := p.schemaIn(o.definition.schema)
	return !there || schema == nil || fits(v, schema)
}

// note adds a remark to the last finding.
func (o *object) note(text string) {
	if n := len(o.findings); n > 0 && !strings.Contains(o.findings[n-1].Problem, text) {
		o.findings[n-1].Problem += " (" + text + ")"
	}
}

// newObject returns the object that a value is, or says why it is none that is checked.
func (all *Rules) newObject(v *value) (*object, *Skipped, *Finding) {
	none := func(p path, problem string) (*object, *Skipped, *Finding) {
		f := v.at(p, problem)
		return nil, nil, &f
	}
	fields, is := v.json.(map[string]any)
	if !is {
		return none(nil, fmt.Sprintf("is %s, not an object: begin with apiVersion: and kind:", decode.Described(v.json)))
	}
	kind, _ := fields["kind"].(string)
	version, _ := fields["apiVersion"].(string)
	name := nameOf(fields)
	for _, needed := range []string{"kind", "apiVersion"} {
		if text, _ := fields[needed].(string); text == "" {
			return none(path{needed}, "is missing: every object says which kind of which API it is")
		}
	}
	gv, err := schema.ParseGroupVersion(version)
	if err != nil {
		return none(path{"apiVersion"}, err.Error())
	}
	compiled, known := all.kinds[gv.WithKind(kind)]
	if !known {
		if f := all.misnamed(v, gv, kind); f != nil {
			f.Object = &name
			return nil, nil, f
		}
		return nil, &Skipped{v.place, name}, nil
	}
	d, err := compiled()
	if err != nil {
		return none(nil, err.Error())
	}
	return &object{value: *v, definition: d, name: name}, nil, nil
}

// nameOf returns what an object is called.
func nameOf(fields map[string]any) ObjectName {
	metadata, _ := fields["metadata"].(map[string]any)
	text := func(value any) string {
		switch value.(type) {
		case nil, []any, map[string]any: // which name nothing
			return ""
		}
		return fmt.Sprint(value)
	}
	o := ObjectName{Kind: text(fields["kind"]), Namespace: text(metadata["namespace"]), Name: text(metadata["name"])}
	if generate := text(metadata["generateName"]); o.Name == "" && generate != "" {
		o.Name = generate + "*"
	}
	return o
}

// misnamed returns a finding about a kind or a version that our API does not have, nil
// about those of others.
func (all *Rules) misnamed(v *value, gv schema.GroupVersion, kind string) *Finding {
	kinds := all.names()
	ours := v1alpha1.GroupVersion
	isKind := slices.Contains(kinds, kind)
	var f Finding
	switch near := closest(kind, kinds); {
	case gv.Group != ours.Group && !isKind:
		return nil
	case isKind:
		f = v.at(path{"apiVersion"}, fmt.Sprintf("%s is a kind of %s, and not of %s", kind, ours, gv))
		f.WriteInstead = "apiVersion: " + ours.String()
		if gv.Group != ours.Group {
			f.Level = Warning // another project may have such a kind
		}
	default:
		f = v.at(path{"kind"}, fmt.Sprintf("%s has no kind %s, only %s", gv, kind, strings.Join(kinds, ", ")))
		if near != "" {
			f.WriteInstead = "kind: " + near
		}
	}
	return &f
}

// valuesIn counts the values that a value holds, itself included.
func valuesIn(value any) int {
	n := 1
	switch v := value.(type) {
	case map[string]any:
		for _, inner := range v {
			n += valuesIn(inner)
		}
	case []any:
		for _, inner := range v {
			n += valuesIn(inner)
		}
	}
	return n
}
