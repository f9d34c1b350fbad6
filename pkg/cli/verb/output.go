package verb

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/util/jsonpath"

	"loadline.dev/loadline/pkg/text"
)

// Output is -o: table (the default), json, yaml or a jsonpath, and for some verbs
// wide.
type Output struct {
	format    string
	formats   []string
	path      *jsonpath.JSONPath // of a jsonpath
	noHeaders bool
}

// Page is where an answer is printed for people.
type Page struct {
	*Stream

	Format    string // that is asked for
	Wide      bool   // tables have more columns
	NoHeaders bool   // and no headers: only rows are printed
}

// colors are those of severities on a terminal.
var colors = map[text.Severity]Color{text.Good: Green, text.Warning: Yellow, text.Bad: Red}

// Table prints a table, without its header if the page has none, and in colors where they are wanted. On a terminal
// long words are shortened to its width, unless the page is a wide one.
func (p *Page) Table(t *text.Table) error {
	t.NoHeader = t.NoHeader || p.NoHeaders
	if !p.Wide {
		t.Width = p.width()
	}
	if p.plain() {
		return t.Write(p.to)
	}
	for _, line := range t.Lines() {
		var spans []Span
		for _, piece := range line {
			spans = append(spans, Span{piece.Text, colors[piece.Severity]})
		}
		if err := p.Spans(spans...); err != nil {
			return err
		}
	}
	return nil
}

// Lines prints what is to be read beside tables; without headers it is left out.
func (p *Page) Lines(lines ...string) error {
	if p.NoHeaders {
		return nil
	}
	return p.Stream.Lines(lines...)
}

// Manifests prints documents for kubectl apply.
func (p *Page) Manifests(documents ...text.Manifest) error {
	out, err := text.Manifests(documents...)
	if err != nil {
		return err
	}
	_, err = p.to.Write(out)
	return err
}

// Add adds the flag for a verb that has a table, and --no-headers.
func (o *Output) Add(command *cobra.Command) {
	o.AddFormats(command, "table", "json", "yaml")
	o.addNoHeaders(command)
}

// AddWide adds the flag for a verb that has a table of more columns, too, and other formats.
func (o *Output) AddWide(command *cobra.Command, others ...string) {
	o.AddFormats(command, slices.Concat([]string{"table", wide, "json", "yaml"}, others)...)
	command.Flags().Lookup("output").Usage += "; on a terminal, table shortens names and lists to its width, and wide shortens nothing"
	o.addNoHeaders(command)
}

const wide = "wide"

func (o *Output) addNoHeaders(command *cobra.Command) {
	command.Flags().BoolVar(&o.noHeaders, "no-headers", false, "print nothing but the rows of tables")
}

// AddFormats adds the flag with some formats, the first being the default, and jsonpath.
func (o *Output) AddFormats(command *cobra.Command, formats ...string) {
	o.format, o.formats = formats[0], formats
	command.Flags().VarP(o, "output", "o", "output format: "+strings.Join(formats, ", ")+", "+jsonpathPrefix+"TEMPLATE")
	Complete(command, "output", OneOf(append(slices.Clone(formats), jsonpathPrefix)))
}

// jsonpathPrefix begins a template for the printed part of an answer, as of kubectl get.
const jsonpathPrefix = "jsonpath="

// String returns the format, Set takes one and Type names the kind of value:
// they make the flag a pflag.Value.
func (o *Output) String() string { return o.format }

// Set takes a format.
func (o *Output) Set(format string) error {
	if template, ok := strings.CutPrefix(format, jsonpathPrefix); ok {
		o.format, o.path = format, jsonpath.New("output").AllowMissingKeys(true)
		if template == "" {
			return errors.New("jsonpath= takes a template, such as jsonpath={.version}")
		}
		if err := o.path.Parse(template); err != nil {
			return fmt.Errorf("%s is not a template such as {.version}: %w", template, err)
		}
		return nil
	}
	if !slices.Contains(o.formats, format) {
		return fmt.Errorf("%q is not one of %s, %sTEMPLATE", format, strings.Join(o.formats, ", "), jsonpathPrefix)
	}
	o.format, o.path = format, nil
	return nil
}

// Type names the kind of value.
func (*Output) Type() string { return "format" }

// Print prints an answer in the chosen format; forPeople prints it with tables.
func (o *Output) Print(s *Stream, answer any, forPeople func(*Page) error) error {
	if o.path != nil {
		return o.printPath(s, answer)
	}
	encode := text.JSON
	switch o.format {
	case "json":
	case "yaml":
		encode = text.YAML
	default:
		return forPeople(&Page{Stream: s, Format: o.format, Wide: o.format == wide, NoHeaders: o.noHeaders})
	}
	out, err := encode(answer)
	if err != nil {
		return err
	}
	_, err = s.to.Write(out)
	return err
}

// printPath prints the template's output for the answer, by the names of the JSON fields. Only the
// template makes lines.
func (o *Output) printPath(s *Stream, answer any) error {
	encoded, err := json.Marshal(answer)
	if err != nil {
		return err
	}
	var data any
	if err := utiljson.Unmarshal(encoded, &data); err != nil { //nolint:forbidigo // it was encoded here
		return err
	}
	if err := o.path.Execute(s.to, printable(data)); err != nil {
		return fmt.Errorf("--output: %w", err)
	}
	return nil
}

// printable returns a value with all of its strings printable.
func printable(value any) any {
	switch v := value.(type) {
	case string:
		return text.Printable(v)
	case []any:
		for i := range v {
			v[i] = printable(v[i])
		}
	case map[string]any:
		escaped := make(map[string]any, len(v))
		for key, inner := range v {
			escaped[text.Printable(key)] = printable(inner)
		}
		return escaped
	}
	return value
}
