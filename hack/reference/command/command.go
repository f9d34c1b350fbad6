// Package command describes the commands of a program in data, so that one program
// can tell another which commands and flags it has: Describe looks at a cobra
// command, Write and Read carry what it saw through a pipe.
package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Command is a command as its users see it.
type Command struct {
	// Path is what users type to get at it, such as "kubectl loadline predict".
	Path string
	// Usage is the command line in one line: the path, arguments and "[flags]".
	Usage string
	// Short says in a line what it does, Long in full, and Example shows it.
	Short, Long, Example string
	// Aliases are other names of it.
	Aliases []string
	// Flags are its own, by name; Inherited are those of the commands above it.
	Flags, Inherited []Flag
	// Commands are those below it that are not hidden, in the order of its help.
	Commands []Command
}

// Flag is a flag of a command.
type Flag struct {
	// Name is its name without dashes; Shorthand is one letter, or nothing.
	Name, Shorthand string
	// Value names its value, such as "string"; nothing where it takes none.
	Value string
	// Default is the value that it has unless given, or nothing where that is the
	// zero value of its kind.
	Default string
	// Usage says what it does.
	Usage string
	// Required is whether the command is refused without it.
	Required bool
}

// Describe describes a command and all below it. It fails if one of them, or one
// of their flags, does not say what it does.
func Describe(c *cobra.Command) (Command, error) {
	described := Command{
		Path: c.CommandPath(), Aliases: c.Aliases,
		Short: c.Short, Long: strings.TrimSpace(c.Long), Example: strings.Trim(c.Example, "\n"),
	}
	var errs []error
	if c.Short == "" && c.Long == "" {
		errs = append(errs, fmt.Errorf("%s: the command does not say what it does: set Short", c.CommandPath()))
	}
	collect := func(list *[]Flag, check bool) func(*pflag.Flag) {
		return func(f *pflag.Flag) {
			if f.Hidden || f.Name == "help" {
				return
			}
			flag := describeFlag(f)
			if check && flag.Usage == "" {
				errs = append(errs, fmt.Errorf("%s --%s: the flag does not say what it does: give it a usage text", c.CommandPath(), f.Name))
			}
			*list = append(*list, flag)
		}
	}
	c.LocalFlags().VisitAll(collect(&described.Flags, true))
	c.InheritedFlags().VisitAll(collect(&described.Inherited, false)) // checked where they are from
	described.Usage = c.UseLine()                                     // which sees all flags once they are collected
	for _, below := range c.Commands() {
		if !below.IsAvailableCommand() || below.Name() == "help" {
			continue
		}
		sub, err := Describe(below)
		errs = append(errs, err)
		described.Commands = append(described.Commands, sub)
	}
	return described, errors.Join(errs...)
}

func describeFlag(f *pflag.Flag) Flag {
	value, usage := pflag.UnquoteUsage(f)
	flag := Flag{Name: f.Name, Shorthand: f.Shorthand, Value: value, Usage: strings.TrimSpace(usage)}
	if !slices.Contains([]string{"", "0", "0s", "false", "[]", "<nil>"}, f.DefValue) {
		flag.Default = f.DefValue
	}
	flag.Required = len(f.Annotations[cobra.BashCompOneRequiredFlag]) > 0
	return flag
}

// Write describes a command and all below it, for Read.
func Write(w io.Writer, c *cobra.Command) error {
	described, err := Describe(c)
	if err != nil {
		return err
	}
	return json.NewEncoder(w).Encode(described)
}

// Read reads what Write wrote.
func Read(r io.Reader) (Command, error) {
	var c Command
	if err := json.NewDecoder(r).Decode(&c); err != nil {
		return Command{}, fmt.Errorf("reading the description of a command: %w", err)
	}
	return c, nil
}
