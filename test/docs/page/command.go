package page

import "strings"

// Command is a command of a block.
type Command struct {
	// Line is that of its first line, from 1.
	Line int
	// Text is what one types, with its continuation lines joined.
	Text string
	// Shown reports whether the page shows what the command prints, if anything; Printed is that.
	Shown   bool
	Printed string
}

// programs are the first words of commands, besides those behind a prompt.
var programs = []string{
	".ci/run", "bin/", "docker", "export", "git", "go", "helm", "kubectl", "loadline-gauge", "loadline-manager", "loadline-probe", "loadline-scheduler", "make", "rm",
}

// Console reports whether a block shows commands: in one without a prompt each line is a command, and nothing is said of what
// they print.
func (b *Block) Console() bool {
	if b.Language != "" {
		return b.Language == "console"
	}
	if b.prompted() {
		return true
	}
	for _, program := range programs {
		if rest, begins := strings.CutPrefix(b.Text, program); begins && (strings.HasSuffix(program, "/") || strings.HasPrefix(rest, " ") || rest == "\n") {
			return true
		}
	}
	return false
}

const prompt = "$ "

func (b *Block) prompted() bool {
	return strings.HasPrefix(b.Text, prompt) || strings.Contains(b.Text, "\n"+prompt)
}

// Commands returns the commands of a block, nil if it shows none.
func (b *Block) Commands() []Command {
	if !b.Console() {
		return nil
	}
	var all []Command
	prompted, goesOn := b.prompted(), false
	number := b.Line - 1
	for line := range strings.Lines(b.Text) {
		number++
		text, typed := strings.CutPrefix(line, prompt)
		typed = typed || !prompted
		switch {
		case goesOn:
			c := &all[len(all)-1]
			c.Text, goesOn = c.Text+" "+strings.TrimSpace(strings.TrimSuffix(line, "\\\n")), strings.HasSuffix(line, "\\\n")
		case typed && strings.TrimSpace(text) != "":
			all = append(all, Command{Line: number, Text: strings.TrimSpace(strings.TrimSuffix(text, "\\\n")), Shown: prompted})
			goesOn = strings.HasSuffix(line, "\\\n")
		case len(all) > 0:
			all[len(all)-1].Printed += line
		}
	}
	return all
}
