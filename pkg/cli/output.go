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

// outputFlag is -o: table (the default), json or yaml.
type outputFlag struct{ format string }

var formats = []string{"table", "json", "yaml"}

func (o *outputFlag) add(command *cobra.Command) {
	o.format = formats[0]
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
	if !slices.Contains(formats, format) {
		return fmt.Errorf("%q is not one of %s", format, strings.Join(formats, ", "))
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
