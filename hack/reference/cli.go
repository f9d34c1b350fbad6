package main

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"loadline.dev/loadline/hack/reference/command"
	"loadline.dev/loadline/hack/reference/markdown"
)

// addCommands adds a page for every command, and one that lists them.
func (b book) addCommands(described map[string]command.Command) error {
	index := markdown.NewPage("Commands")
	index.Add("What each program takes. Every command prints the same with `--help`.")
	for i := range programs {
		name := programs[i].name
		c := described[name]
		if name == schedulerName {
			if err := b.addScheduler(&c); err != nil {
				return err
			}
		} else {
			b.addCommand(&c, nil)
		}
		index.Heading(2, c.Path, markdown.Slug(c.Path))
		index.Add(commandTable(&c))
	}
	b.add("cli.md", index)
	return nil
}

// commandTable lists a command and all below it.
func commandTable(c *command.Command) string {
	var rows [][]string
	var list func(c *command.Command)
	list = func(c *command.Command) {
		rows = append(rows, []string{markdown.Link(markdown.Code(c.Path), commandPage(c.Path)), markdown.Cell(summary(c))})
		for i := range c.Commands {
			list(&c.Commands[i])
		}
	}
	list(c)
	return markdown.Table([]string{"Command", "What it does"}, rows...)
}

// commandPage is where the page of a command is.
func commandPage(path string) string { return "cli/" + strings.ReplaceAll(path, " ", "-") + ".md" }

// addCommand adds the page of a command, and those of the commands below it. The
// command above it is nil for a program.
func (b book) addCommand(c, above *command.Command) {
	page := commandHead(c)
	if len(c.Commands) > 0 {
		var rows [][]string
		for i := range c.Commands {
			below := &c.Commands[i]
			rows = append(rows, []string{markdown.Link(markdown.Code(below.Path), path.Base(commandPage(below.Path))), markdown.Cell(summary(below))})
			b.addCommand(below, c)
		}
		page.Heading(2, "Commands", "commands")
		page.Add(markdown.Table([]string{"Command", "What it does"}, rows...))
	}
	if len(c.Flags) > 0 {
		page.Heading(2, "Flags", "flags")
		page.Add(flagTable(c.Flags))
	}
	if len(c.Inherited) > 0 && above != nil {
		page.Add("It takes " + markdown.Link("the flags of "+markdown.Code(above.Path), path.Base(commandPage(above.Path))+"#flags") + " too.")
	}
	b.add(commandPage(c.Path), page)
}

// commandHead begins the page of a command: what it does, its usage and examples.
func commandHead(c *command.Command) *markdown.Page {
	page := markdown.NewPage(c.Path)
	page.Add(markdown.Prose(sentence(c.Short)), markdown.Block("text", c.Usage), markdown.Prose(c.Long))
	if len(c.Aliases) > 0 {
		var names []string
		for _, alias := range c.Aliases {
			names = append(names, markdown.Code(alias))
		}
		page.Add("Other names: " + strings.Join(names, ", ") + ".")
	}
	if c.Example != "" {
		page.Heading(2, "Examples", "examples")
		page.Add(markdown.Block("sh", strings.ReplaceAll("\n"+c.Example, "\n  ", "\n")[1:]))
	}
	return page
}

// defaultInWords is a usage text that ends with the default where that is no plain value.
var defaultInWords = regexp.MustCompile(`(?s)^(.*?)\s*\(default (.*)\)$`)

// flagTable lists flags, those that must be given first.
func flagTable(flags []command.Flag) string {
	required := slices.DeleteFunc(slices.Clone(flags), func(f command.Flag) bool { return !f.Required })
	optional := slices.DeleteFunc(slices.Clone(flags), func(f command.Flag) bool { return f.Required })
	var rows [][]string
	for _, f := range append(required, optional...) {
		text := "--" + f.Name
		if f.Shorthand != "" {
			text = "-" + f.Shorthand + ", " + text
		}
		if f.Value != "" {
			text += " " + f.Value
		}
		usage, otherwise := f.Usage, markdown.Code(f.Default)
		if matched := defaultInWords.FindStringSubmatch(usage); matched != nil && f.Default == "" {
			usage, otherwise = matched[1], markdown.Cell(matched[2])
		}
		if f.Required {
			otherwise = "*required*"
		}
		rows = append(rows, []string{markdown.Anchor(f.Name) + markdown.Code(text), otherwise, markdown.Cell(sentence(usage))})
	}
	return markdown.Table([]string{"Flag", "Default", "What it does"}, rows...)
}

// summary says in a sentence what a command does: as Short does, else the first line of
// Long.
func summary(c *command.Command) string {
	if c.Short != "" {
		return sentence(c.Short)
	}
	line, _, _ := strings.Cut(c.Long, "\n")
	return sentence(strings.TrimSuffix(line, ":"))
}

// sentence makes a sentence of a help text: it begins with a capital letter, unless its
// first word is a name, and ends with a full stop.
func sentence(text string) string {
	first, _, _ := strings.Cut(text, " ")
	if first != "" && strings.IndexFunc(first, func(r rune) bool { return !unicode.IsLower(r) }) < 0 {
		text = capital(text)
	}
	if text != "" && !strings.ContainsAny(text[len(text)-1:], ".!?:") {
		text += "."
	}
	return text
}
