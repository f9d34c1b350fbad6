package decode

import (
	"cmp"
	"encoding/base64"
	encoding "encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/json"
)

// maxErrors bounds how many fields are named that do not fit.
const maxErrors = 5

// Decoder decodes objects. The zero value refuses fields that the types do not have. It is for one
// goroutine at a time.
type Decoder struct {
	// Lenient leaves out the fields that the types do not have, such as those that a newer version
	// of the API has.
	Lenient bool

	fields map[reflect.Type]map[string]reflect.Type
}

// Value is JSON that was read once, to be decoded as often as is needed.
type Value struct {
	text     []byte
	written  any
	repeated []error // fields that are there twice
}

// Read reads JSON. The error is a [SyntaxError].
func Read(text []byte) (*Value, error) {
	v := &Value{text: text}
	var err error
	if v.repeated, err = json.UnmarshalStrict(text, &v.written, json.DisallowDuplicateFields); err != nil {
		return nil, Syntax(text, err)
	}
	return v, nil
}

// Object decodes JSON into what a pointer points to. The error is a [SyntaxError], or one of [Decoder.Into].
func (d *Decoder) Object(text []byte, into any) error {
	v, err := Read(text)
	if err != nil {
		return err
	}
	return d.Into(v, into)
}

// Into decodes a value into the object that a pointer points to. The error is the aggregate of a [field.Error]
// for each field that does not fit, the first of them if there are many. Names of fields count in the spelling
// of the types.
func (d *Decoder) Into(v *Value, into any) error {
	if _, is := v.written.(map[string]any); !is {
		return errors.New("is " + Described(v.written) + " where the API wants an object")
	}
	w := walk{decoder: d}
	for _, err := range v.repeated {
		if of := json.FieldError(nil); errors.As(err, &of) && !d.Lenient {
			w.refuse(&field.Error{Type: field.ErrorTypeForbidden, Field: of.FieldPath(), Detail: "the field is there twice"})
		}
	}
	w.value(nil, v.written, reflect.TypeOf(into).Elem())
	if len(w.wrong) > 0 {
		return w.wrong.ToAggregate()
	}
	if err := json.UnmarshalCaseSensitivePreserveInts(v.text, into); err != nil {
		return errors.New("cannot be read: a field of it is not as the API has it")
	}
	return nil
}

// walk is a walk through a value beside the type that it is to be of.
type walk struct {
	decoder *Decoder
	wrong   field.ErrorList
}

func (w *walk) refuse(err *field.Error) {
	if len(w.wrong) < maxErrors {
		w.wrong = append(w.wrong, err)
	}
}

// invalid refuses a value by a rule.
func (w *walk) invalid(at *field.Path, value any, rule string) {
	w.refuse(field.Invalid(at, excerpt(value), rule))
}

// mistyped refuses a value that is not of a type.
func (w *walk) mistyped(at *field.Path, value any, t reflect.Type) {
	w.invalid(at, value, "is "+Described(value)+" where the API wants "+ValuesOf(t))
}

// value looks at a value that is to be of a type. Null is one of every type.
func (w *walk) value(at *field.Path, value any, t reflect.Type) {
	if value == nil {
		return
	}
	if t.Kind() == reflect.Pointer {
		w.value(at, value, t.Elem())
		return
	}
	if own, is := reflect.TypeAssert[unmarshaler](reflect.New(t)); is {
		w.custom(at, value, t, own)
		return
	}
	switch t.Kind() {
	case reflect.Struct:
		w.object(at, value, t)
	case reflect.Map:
		entries, is := value.(map[string]any)
		if !is {
			w.mistyped(at, value, t)
			return
		}
		for _, name := range slices.Sorted(maps.Keys(entries)) {
			w.value(key(at, name), entries[name], t.Elem())
		}
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			w.bytes(at, value)
			return
		}
		items, is := value.([]any)
		if !is {
			w.mistyped(at, value, t)
			return
		}
		for i, item := range items {
			w.value(at.Index(i), item, t.Elem())
		}
	case reflect.Interface:
	default:
		w.scalar(at, value, t)
	}
}

// object looks at the fields of an object. Fields of embedded types are those of the object.
func (w *walk) object(at *field.Path, value any, t reflect.Type) {
	written, is := value.(map[string]any)
	if !is {
		w.mistyped(at, value, t)
		return
	}
	known := w.decoder.fieldsOf(t)
	for _, name := range slices.Sorted(maps.Keys(written)) {
		of, there := known[name]
		switch {
		case there:
			w.value(child(at, name), written[name], of)
		case !w.decoder.Lenient:
			w.refuse(field.Forbidden(child(at, name), "there is no such field"))
		}
	}
}

// scalar looks at a value that is to be a text, a number, or true or false.
func (w *walk) scalar(at *field.Path, value any, t reflect.Type) {
	fits, probe := false, reflect.New(t).Elem()
	switch kind := t.Kind(); {
	case kind == reflect.String:
		_, fits = value.(string)
	case kind == reflect.Bool:
		_, fits = value.(bool)
	case probe.CanInt():
		n, whole := value.(int64)
		if fits = whole && !probe.OverflowInt(n); whole && !fits {
			w.invalid(at, value, "is more than the field holds")
			return
		}
	case probe.CanFloat():
		switch value.(type) {
		case int64, float64:
			fits = true
		}
	}
	if !fits {
		w.mistyped(at, value, t)
	}
}

// bytes looks at a value that is to be the base64 of some bytes.
func (w *walk) bytes(at *field.Path, value any) {
	text, is := value.(string)
	if _, err := base64.StdEncoding.DecodeString(text); !is || err != nil {
		w.invalid(at, value, "is not text in base64")
	}
}

// rules are those of types that are read in a way of their own.
var rules = map[reflect.Type]string{
	reflect.TypeFor[resource.Quantity]():  "is not a quantity such as 500m or 2",
	reflect.TypeFor[metav1.Time]():        "is not a time such as 2026-01-02T15:04:05Z",
	reflect.TypeFor[metav1.MicroTime]():   "is not a time such as 2026-01-02T15:04:05.000000Z",
	reflect.TypeFor[metav1.Duration]():    "is not a duration such as 1m30s",
	reflect.TypeFor[intstr.IntOrString](): "is neither a whole number nor a string",
}

// unmarshaler is a type that is read in a way of its own.
type unmarshaler interface{ UnmarshalJSON(text []byte) error }

// custom looks at a value of a type that is read in a way of its own.
func (w *walk) custom(at *field.Path, value any, t reflect.Type, own unmarshaler) {
	text, err := encoding.Marshal(value)
	if err == nil {
		err = own.UnmarshalJSON(text)
	}
	if err != nil {
		w.invalid(at, value, cmp.Or(rules[t], "is no value that the field takes"))
	}
}

// fieldsOf returns the types of the fields of a type, by the names that they have in JSON.
func (d *Decoder) fieldsOf(t reflect.Type) map[string]reflect.Type {
	if known, seen := d.fields[t]; seen {
		return known
	}
	fields := map[string]reflect.Type{}
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-" || !f.IsExported():
		case name == "" && f.Anonymous:
			of := f.Type
			if of.Kind() == reflect.Pointer {
				of = of.Elem()
			}
			maps.Copy(fields, d.fieldsOf(of))
		default:
			fields[cmp.Or(name, f.Name)] = f.Type
		}
	}
	if d.fields == nil {
		d.fields = map[reflect.Type]map[string]reflect.Type{}
	}
	d.fields[t] = fields
	return fields
}

// child returns the path of a field, and key that of an entry of a map.
func child(at *field.Path, name string) *field.Path {
	if at == nil {
		return field.NewPath(name)
	}
	return at.Child(name)
}

func key(at *field.Path, name string) *field.Path {
	if at == nil {
		return field.NewPath(name)
	}
	return at.Key(name)
}
