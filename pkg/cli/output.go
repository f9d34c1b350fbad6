package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"
)

// outputFlag is -o: table (the default), json or yaml, and for some verbs wide.
type outputFlag struct {
	format  string
	formats []string
}

func (o *outputFlag) add(command *cobra.Command) { o.addFormats(command, "table", "json", "yaml") }

// addWide adds the flag for a verb that has a table of more columns, too.
func (o *outputFlag) addWide(command *cobra.Command) {
	o.addFormats(command, "table", wide, "json", "yaml")
}

const wide = "wide"

func (o *outputFlag) addFormats(command *cobra.Command, formats ...string) {
	o.format, o.formats = formats[0], formats
	command.Flags().VarP(o, "output", "o", "output format: "+strings.Join(formats, ", "))
	completions := cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp)
	if err := command.RegisterFlagCompletionFunc("output", completions); err != nil {
		panic(err) // the flag was added above
	}
}

// String returns the format, Set takes one and Type names the kind of value:
// they make the flag a pflag.Value.
func (o *outputFlag) String() string { return o.format }

// Set takes a format.
func (o *outputFlag) Set(format string) error {
	if !slices.Contains(o.formats, format) {
		return fmt.Errorf("%q is not one of %s", format, strings.Join(o.formats, ", "))
	}
	o.format = format
	return nil
}

// Type names the kind of value.
func (*outputFlag) Type() string { return "format" }

// print prints an answer in the chosen format.
func (o *outputFlag) print(w io.Writer, answer any, table func() error) error {
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
		return table()
	}
}
