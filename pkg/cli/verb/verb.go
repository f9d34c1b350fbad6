// Package verb holds what the verbs of kubectl loadline have in common: their streams,
// how values of flags are read and completed, the output flag and the page that an
// answer is printed on, the line of progress, and the errors that make exit codes.
package verb

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// Streams are where a command reads and prints.
type Streams struct {
	In       io.Reader
	Out, Err *Stream
}

// NoArguments refuses arguments of a verb that takes none, and verbs that there are not.
func NoArguments(command *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	text := fmt.Sprintf("unknown command %q for %q", args[0], command.CommandPath())
	if meant := command.SuggestionsFor(args[0]); len(meant) > 0 {
		text += "; did you mean " + strings.Join(meant, " or ") + "?"
	}
	return SeeHelp(command, errors.New(text))
}

// SeeHelp adds to an error, on a line below, where the use of the command is described.
func SeeHelp(command *cobra.Command, err error) error {
	return Below(err, "See '%s --help' for usage and examples", command.CommandPath())
}
