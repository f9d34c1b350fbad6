// Package verb holds the common parts of the verbs of kubectl loadline: their streams, how values of flags are
// read and completed, the output flag and the page that an answer is printed on, the line of progress, and the
// errors that make exit codes.
package verb

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// Streams are where a command reads and prints.
type Streams struct {
	In       io.Reader
	Out, Err *Stream
}

// NoArguments refuses arguments of a verb that takes none, and verbs that there are not. Of a file it
// says by which flag to give it.
func NoArguments(command *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if flag := flagOfFile(command, args[0]); flag != "" {
		return SeeHelp(command, fmt.Errorf("%q is a file: give it by %s, as in %s %s %s", args[0], flag, command.CommandPath(), flag, args[0]))
	}
	text := fmt.Sprintf("unknown command %q for %q", args[0], command.CommandPath())
	if meant := command.SuggestionsFor(args[0]); len(meant) > 0 {
		text += "; did you mean " + strings.Join(meant, " or ") + "?"
	}
	return SeeHelp(command, errors.New(text))
}

// flagOfFile returns the flag by which a verb takes a file, "" if it takes none or the argument is none: there is
// no file of that name, nor has one of that extension been forgotten.
func flagOfFile(command *cobra.Command, arg string) string {
	extension := filepath.Ext(arg)
	isManifest := slices.Contains([]string{".yaml", ".yml", ".json"}, extension)
	if _, err := os.Stat(arg); err != nil && arg != "-" && !isManifest && !slices.Contains([]string{".csv", ".swf", ".gz"}, extension) {
		return ""
	}
	switch flags := command.Flags(); {
	case flags.Lookup("trace") != nil && !isManifest:
		return "--trace"
	case flags.Lookup("filename") != nil:
		return "-f"
	default:
		return ""
	}
}

// SeeHelp adds to an error, on a line below, where the use of the command is described.
func SeeHelp(command *cobra.Command, err error) error {
	return Below(err, "See '%s --help' for usage and examples", command.CommandPath())
}
