package main

import (
	"fmt"
	"strings"

	"loadline.dev/loadline/hack/reference/markdown"
)

// addKinds adds a page for every kind of the API, and one with what they share.
func (b book) addKinds(root string) error {
	kinds, err := readKinds(root)
	if err != nil {
		return err
	}
	groups, err := readConstants(root, kinds)
	if err != nil {
		return err
	}
	var rows [][]string
	for _, k := range kinds {
		b.add(kindPage(k), renderKind(k, groups))
		rows = append(rows, []string{
			markdown.Anchor(strings.ToLower(k.name)) + markdown.Link(k.name, kindPage(k)),
			codes(k.shortNames), scope(k), markdown.Cell(k.summary()),
		})
	}
	page := markdown.NewPage("API")
	page.Add(
		"The kinds of `loadline.dev/v1alpha1`. `kubectl get loadline -A` lists the objects of all of them, `kubectl explain` shows the same as these pages.",
		markdown.Table([]string{"Kind", "Short name", "Scope", "What it is for"}, rows...),
		apiNotes,
	)
	page.Heading(2, "Quantities", "quantities")
	page.Add(quantityNotes)
	page.Heading(2, "Times", "times")
	page.Add(timeNotes)
	page.Heading(2, "Label selectors", "label-selectors")
	page.Add(selectorNotes)
	page.Heading(2, "Conditions", "conditions")
	page.Add(conditionNotes)
	b.add("api.md", page)
	return nil
}

// What all kinds have in common.
const (
	apiNotes = "Every object has `apiVersion`, `kind`, `metadata`, a `spec`, which is yours to write, and a `status`, which Loadline writes. " +
		"Of each field the pages tell the type and whether it is required. Where a rule is broken the API server refuses the object; “what stands in quotes” is the message with which it does. " +
		"Times and rates have their units in the names of the fields."

	quantityNotes = "A number as Kubernetes writes them: `\"0.58\"` and `580m` are the same, and so are `2000` and `2k`. " +
		"Put decimal points in quotes. Fractions and probabilities are quantities, as no two programs round floating-point numbers alike."

	timeNotes = "A date and time as in RFC 3339, in UTC: `2026-01-31T23:59:59Z`."

	selectorNotes = "Chooses objects by their labels. `matchLabels` lists labels and values that an object must have, all of them; " +
		"`matchExpressions` lists requirements with a `key`, an `operator` (`In`, `NotIn`, `Exists` or `DoesNotExist`) and, for the first two, `values`. " +
		"An empty selector, `{}`, chooses all objects.\n\n" +
		"```yaml\nmatchLabels: {app: sort}\nmatchExpressions:\n- {key: tier, operator: In, values: [batch, nightly]}\n```"

	conditionNotes = "What is the case with an object, at the latest look:\n\n" +
		"| Field | Type | What it means |\n|---|---|---|\n" +
		"| `type` | string | what the condition is about, such as `Ready` |\n" +
		"| `status` | string | whether that is so: `True`, `False` or `Unknown` |\n" +
		"| `reason` | string | why, in a word for programs |\n" +
		"| `message` | string | why, and what to do, in a sentence for people |\n" +
		"| `observedGeneration` | integer | the `metadata.generation` that the condition is of; an older one than the object's is out of date |\n" +
		"| `lastTransitionTime` | [time](#times) | since when the status is what it is |\n\n" +
		"Wait for one with `kubectl wait --for=condition=Ready`. The page of each kind lists its types and reasons."
)

func kindPage(k *kind) string { return "api/" + strings.ToLower(k.name) + ".md" }

func scope(k *kind) string {
	if k.namespaced {
		return "namespace"
	}
	return "cluster"
}

// renderKind writes the page of a kind.
func renderKind(k *kind, groups []constants) *markdown.Page {
	page := markdown.NewPage(k.name)
	names := append([]string{k.plural}, k.shortNames...)
	page.Add(
		markdown.Prose(k.description),
		markdown.Table([]string{"apiVersion", "Names for kubectl", "Scope"},
			[]string{markdown.Code(k.apiVersion), codes(names), scope(k)}),
		sampleLinks(k),
		ruleList(k.rules),
	)
	page.Heading(2, "At a glance", "at-a-glance")
	page.Add(markdown.Block("yaml", outline(k)))
	for _, f := range k.fields {
		addObject(page, f, 2)
	}
	addConditions(page, k, groups)
	addColumns(page, k)
	return page
}

// sampleLinks leads to examples of the kind.
func sampleLinks(k *kind) string {
	if len(k.samples) == 0 {
		return ""
	}
	var links []string
	for _, name := range k.samples {
		links = append(links, markdown.Link(name, "../../../config/samples/"+name))
	}
	return "Examples: " + strings.Join(links, ", ") + "."
}

// addObject adds a chapter for a field that is an object, and for those below it.
func addObject(page *markdown.Page, f *field, level int) {
	page.Heading(level, f.itemPath(), fieldID(f.path))
	about := f.description
	if f.element != "" {
		about = f.element
	}
	var rows [][]string
	for _, below := range f.fields {
		rows = append(rows, fieldRow(below))
	}
	page.Add(named(f.name, about, markdown.Prose))
	if !f.list { // those of a list stand where it is a field
		page.Add(ruleList(f.rules))
	}
	page.Add(markdown.Table([]string{"Field", "Type", "What it means"}, rows...))
	for _, below := range f.fields {
		if below.fields != nil {
			addObject(page, below, 3)
		}
	}
}

// fieldID is the id of a field: its path, in the letters that links have.
func fieldID(path string) string {
	return strings.ToLower(strings.NewReplacer(".", "-", "[]", "").Replace(path))
}

// fieldRow is the row of a field in the table of its object.
func fieldRow(f *field) []string {
	name := markdown.Code(f.name)
	if f.fields == nil { // else the chapter has the id
		name = markdown.Anchor(fieldID(f.path)) + name
	}
	if f.required {
		name += "<br>*required*"
	}
	meaning := []string{named(f.name, f.description, markdown.Cell)}
	if f.otherwise != "" && !strings.Contains(f.description, "Defaults to") {
		meaning = append(meaning, "Defaults to "+codes([]string{f.otherwise})+".")
	}
	if f.fields == nil || f.list {
		for _, rule := range f.rules {
			meaning = append(meaning, "• "+rule)
		}
	}
	return []string{name, typeOf(f), strings.Join(meaning, "<br>")}
}

// named shows a description, and as code the name that it begins with.
func named(name, description string, show func(string) string) string {
	rest, begins := strings.CutPrefix(description, name+" ")
	if !begins {
		return show(description)
	}
	return markdown.Code(name) + " " + show(rest)
}

// typeOf is the type of a field, with a link to where it is explained.
func typeOf(f *field) string {
	text := f.of.one
	if f.list {
		text = f.of.many
	}
	switch {
	case f.fields != nil:
		text = markdown.Link(text, "#"+fieldID(f.path))
	case f.of.anchor != "":
		text = markdown.Link(text, "../api.md#"+f.of.anchor)
	}
	if f.list {
		return "list of " + text
	}
	return text
}

// ruleList lists the rules of an object.
func ruleList(rules []string) string {
	if len(rules) == 0 {
		return ""
	}
	return "What breaks a rule is refused with its message:\n\n" + markdown.List(rules...)
}

// outline is the spec of a kind in YAML, with types in place of values.
func outline(k *kind) string {
	var b strings.Builder
	fmt.Fprintf(&b, "apiVersion: %s\nkind: %s\nmetadata:\n  name: string\n", k.apiVersion, k.name)
	if k.namespaced {
		b.WriteString("  namespace: string\n")
	}
	for _, f := range k.fields {
		if f.name == "spec" {
			outlineField(&b, f, "")
		}
	}
	return b.String()
}

// outlineField writes a field and all below it, behind an indentation.
func outlineField(b *strings.Builder, f *field, indent string) {
	line := indent + f.name + ":"
	var notes []string
	value := f.of.one
	switch {
	case f.fields != nil:
		value = ""
	case len(f.enum) > 0:
		var shown []string
		for _, v := range f.enum {
			shown = append(shown, strings.Trim(v, `"`))
		}
		value = strings.Join(shown, " | ")
	}
	if f.list && f.fields == nil {
		value = "[" + value + "]"
	}
	if value != "" {
		line += " " + value
	}
	if f.required {
		notes = append(notes, "required")
	}
	if f.otherwise != "" {
		notes = append(notes, "defaults to "+strings.Trim(f.otherwise, `"`))
	}
	if len(notes) > 0 {
		line += "  # " + strings.Join(notes, ", ")
	}
	b.WriteString(line + "\n")
	for i, below := range f.fields {
		switch {
		case !f.list:
			outlineField(b, below, indent+"  ")
		case i == 0:
			var first strings.Builder
			outlineField(&first, below, indent+"  ")
			b.WriteString(indent + "-" + strings.TrimPrefix(first.String(), indent+" "))
		default:
			outlineField(b, below, indent+"  ")
		}
	}
}

// addConditions adds what the conditions of a kind are called and the reasons they give.
func addConditions(page *markdown.Page, k *kind, groups []constants) {
	began := false
	for i := range groups {
		g := &groups[i]
		if !g.isOf(k) {
			continue
		}
		if !began {
			page.Heading(2, "Conditions and reasons", "conditions-and-reasons")
			page.Add("What [conditions](../api.md#conditions) say of a " + k.name + ".")
			began = true
		}
		var types, reasons [][]string
		for _, c := range g.list {
			row := []string{markdown.Code(c.value), markdown.Cell(c.meaning)}
			switch {
			case !c.isType:
				reasons = append(reasons, row)
			case k.hasCondition(c.value):
				types = append(types, row)
			}
		}
		page.Add(markdown.Prose(g.about))
		if len(types) > 0 {
			page.Add(markdown.Table([]string{"Condition", "What it means"}, types...))
		}
		if len(reasons) > 0 {
			page.Add(markdown.Table([]string{"Reason", "What it means"}, reasons...))
		}
	}
}

// addColumns adds what kubectl get shows.
func addColumns(page *markdown.Page, k *kind) {
	var rows [][]string
	for _, c := range k.columns {
		shown := "always"
		if c.Priority > 0 {
			shown = "with `-o wide`"
		}
		rows = append(rows, []string{markdown.Escape(strings.ToUpper(c.Name)), markdown.Code(c.JSONPath), shown})
	}
	if len(rows) > 0 {
		page.Heading(2, "Columns of kubectl get", "columns-of-kubectl-get")
		page.Add(markdown.Table([]string{"Column", "What it shows", "Shown"}, rows...))
	}
}
