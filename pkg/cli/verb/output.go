package verb

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/util/jsonpath"
	"sigs.k8s.io/yaml"

	"loadline.dev/loadline/pkg/report/text"
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
	io.Writer

	Wide      bool // tables have more columns
	NoHeaders bool // and no headers
}

// Table prints a table, without its header if the page has none.
func (p *Page) Table(t *text.Table) error {
	t.NoHeader = t.NoHeader || p.NoHeaders
	return t.Write(p)
}

// Lines prints lines of text.
func (p *Page) Lines(lines ...string) error {
	for _, line := range lines {
		if _, err := fmt.Fprintln(p, line); err != nil {
			return err
		}
	}
	return nil
}

// Add adds the flag for a verb that has a table, and --no-headers.
func (o *Output) Add(command *cobra.Command) {
	o.AddFormats(command, "table", "json", "yaml")
	o.addNoHeaders(command)
}

// AddWide adds the flag for a verb that has a table of more columns, too.
func (o *Output) AddWide(command *cobra.Command) {
	o.AddFormats(command, "table", wide, "json", "yaml")
	o.addNoHeaders(command)
}

const wide = "wide"

func (o *Output) addNoHeaders(command *cobra.Command) {
	command.Flags().BoolVar(&o.noHeaders, "no-headers", false, "leave out the headers of tables")
}

// AddFormats adds the flag with some formats, the first being the default, and jsonpath.
func (o *Output) AddFormats(command *cobra.Command, formats ...string) {
	o.format, o.formats = formats[0], formats
	command.Flags().VarP(o, "output", "o", "output format: "+strings.Join(formats, ", ")+", "+jsonpathPrefix+"TEMPLATE")
	Complete(command, "output", OneOf(append(slices.Clone(formats), jsonpathPrefix)))
}

// jsonpathPrefix begins a template of what to print of an answer, as of kubectl get.
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
func (o *Output) Print(w io.Writer, answer any, forPeople func(*Page) error) error {
	if o.path != nil {
		return o.printPath(w, answer)
	}
	switch o.format {
	case "json":
		encoder := json.NewEncoder(w)
		encoder.SetIndent("", "  ")
		encoder.SetEscapeHTML(false)
		return encoder.Encode(answer)
	case "yaml":
		out, err := yaml.Marshal(answer)
		if err == nil {
			_, err = w.Write(out)
		}
		return err
	default:
		return forPeople(&Page{Writer: w, Wide: o.format == wide, NoHeaders: o.noHeaders})
	}
}

// printPath prints what the template makes of the answer, by the names that JSON has.
func (o *Output) printPath(w io.Writer, answer any) error {
	text, err := json.Marshal(answer)
	if err != nil {
		return err
	}
	var data any
	if err := utiljson.Unmarshal(text, &data); err != nil {
		return err
	}
	if err := o.path.Execute(w, data); err != nil {
		return fmt.Errorf("--output: %w", err)
	}
	return nil
}
