package cli

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

// outputFlag is -o: table (the default), json, yaml or a jsonpath, and for some verbs
// wide.
type outputFlag struct {
	format    string
	formats   []string
	path      *jsonpath.JSONPath // of a jsonpath
	noHeaders bool
}

// page is where an answer is printed for people.
type page struct {
	io.Writer

	wide      bool // tables have more columns
	noHeaders bool // and no headers
}

func (p *page) table(t *text.Table) error {
	t.NoHeader = t.NoHeader || p.noHeaders
	return t.Write(p)
}

func (p *page) lines(lines ...string) error {
	for _, line := range lines {
		if _, err := fmt.Fprintln(p, line); err != nil {
			return err
		}
	}
	return nil
}

func (o *outputFlag) add(command *cobra.Command) {
	o.addFormats(command, "table", "json", "yaml")
	o.addNoHeaders(command)
}

// addWide adds the flag for a verb that has a table of more columns, too.
func (o *outputFlag) addWide(command *cobra.Command) {
	o.addFormats(command, "table", wide, "json", "yaml")
	o.addNoHeaders(command)
}

const wide = "wide"

func (o *outputFlag) addNoHeaders(command *cobra.Command) {
	command.Flags().BoolVar(&o.noHeaders, "no-headers", false, "leave out the headers of tables")
}

func (o *outputFlag) addFormats(command *cobra.Command, formats ...string) {
	o.format, o.formats = formats[0], formats
	command.Flags().VarP(o, "output", "o", "output format: "+strings.Join(formats, ", ")+", "+jsonpathPrefix+"TEMPLATE")
	register(command, "output", oneOf(append(slices.Clone(formats), jsonpathPrefix)))
}

// jsonpathPrefix begins a template of what to print of an answer, as of kubectl get.
const jsonpathPrefix = "jsonpath="

// String returns the format, Set takes one and Type names the kind of value:
// they make the flag a pflag.Value.
func (o *outputFlag) String() string { return o.format }

// Set takes a format.
func (o *outputFlag) Set(format string) error {
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
func (*outputFlag) Type() string { return "format" }

// print prints an answer in the chosen format; forPeople prints it with tables.
func (o *outputFlag) print(w io.Writer, answer any, forPeople func(*page) error) error {
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
		return forPeople(&page{Writer: w, wide: o.format == wide, noHeaders: o.noHeaders})
	}
}

// printPath prints what the template makes of the answer, by the names that JSON has.
func (o *outputFlag) printPath(w io.Writer, answer any) error {
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
