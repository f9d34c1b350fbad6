package verb

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// Complete makes the shell complete the values of a flag, which must have been added
// and not be completed yet.
func Complete(command *cobra.Command, flag string, completion cobra.CompletionFunc) {
	if err := command.RegisterFlagCompletionFunc(flag, Begun(completion)); err != nil {
		panic(err) // the flag is there, and registers once
	}
}

// Begun leaves out completions that do not begin with the typed text; extensions of files are kept.
func Begun(completion cobra.CompletionFunc) cobra.CompletionFunc {
	return func(command *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		choices, directive := completion(command, args, typed)
		if directive != cobra.ShellCompDirectiveFilterFileExt {
			choices = slices.DeleteFunc(slices.Clone(choices), func(choice string) bool { return !strings.HasPrefix(choice, typed) })
		}
		return choices, directive
	}
}

// OneOf completes a value with its allowed values.
func OneOf(values []string) cobra.CompletionFunc {
	return cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)
}
