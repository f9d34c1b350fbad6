package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"loadline.dev/loadline/hack/reference/command"
)

// program is a program of cmd.
type program struct {
	// name is that of its folder.
	name string
	// command is Go, in its package main, for its cobra command.
	command string
	// imports are the paths of packages that command needs.
	imports []string
	// files are Go files to add to other packages, by path, so that command works.
	files map[string]string
	// varying names flags whose defaults depend on where the program runs, and says
	// what they are, or nothing where their usage texts do.
	varying map[string]string
}

// programs are all programs, in the order of their pages.
var programs = []program{
	{
		name: "kubectl-loadline", command: "cli.Described()", imports: []string{"loadline.dev/loadline/pkg/cli"},
		varying: map[string]string{"parallel": "as many as there are CPUs"},
		files: map[string]string{"pkg/cli/zz_described.go": `package cli

import "github.com/spf13/cobra"

func Described() *cobra.Command { return newRoot("", Streams{}) }
`},
	},
	{name: "loadline-manager", command: "newCommand()", varying: map[string]string{"probe-namespace": ""}},
	{name: "loadline-scheduler", command: "newCommand()"},
	{name: "loadline-gauge", command: "newCommand()"},
	{name: "loadline-probe", command: "newCommand()"},
}

// describePrograms describes the commands of every program of the repository in a
// folder, by name.
func describePrograms(ctx context.Context, root string) (map[string]command.Command, error) {
	found := map[string]command.Command{}
	var errs []error
	for i := range programs {
		p := &programs[i]
		described, err := p.describe(ctx, root)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", p.name, err))
		}
		found[p.name] = described
	}
	return found, errors.Join(errs...)
}

// describe runs the program with a file laid over its package that has it describe
// its command: no other package can see what a package main declares.
func (p *program) describe(ctx context.Context, root string) (described command.Command, err error) {
	scratch, err := os.MkdirTemp("", "reference")
	if err != nil {
		return command.Command{}, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	overlay, err := p.overlay(root, scratch)
	if err != nil {
		return command.Command{}, err
	}
	var out, complaints bytes.Buffer
	run := exec.CommandContext(ctx, "go", "run", "-overlay", overlay, "./cmd/"+p.name)
	run.Dir, run.Stdout, run.Stderr = root, &out, &complaints
	run.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "LOADLINE_") })
	if err := run.Run(); err != nil {
		return command.Command{}, fmt.Errorf("%w: %s", err, bytes.TrimSpace(complaints.Bytes()))
	}
	described, err = command.Read(&out)
	p.settle(&described)
	return described, err
}

// settle puts words in the place of defaults that depend on where the program runs.
func (p *program) settle(c *command.Command) {
	for i := range c.Flags {
		f := &c.Flags[i]
		words, varies := p.varying[f.Name]
		if varies {
			f.Default = ""
		}
		if words != "" {
			f.Usage += " (default " + words + ")"
		}
	}
	for i := range c.Commands {
		p.settle(&c.Commands[i])
	}
}

// overlay writes the files to lay over the repository into a folder, and what tells
// the go command of them. It returns the path of that.
func (p *program) overlay(root, scratch string) (string, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return "", err
	}
	files := map[string]string{"cmd/" + p.name + "/zz_described.go": p.source()}
	maps.Copy(files, p.files)
	replaced := map[string]string{}
	for path, text := range files {
		file := filepath.Join(scratch, fmt.Sprintf("%d.go", len(replaced)))
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			return "", err
		}
		replaced[filepath.Join(root, filepath.FromSlash(path))] = file
	}
	encoded, err := json.Marshal(map[string]any{"Replace": replaced})
	if err != nil {
		return "", err
	}
	overlay := filepath.Join(scratch, "overlay.json")
	return overlay, os.WriteFile(overlay, encoded, 0o600)
}

// source is the file that is added to the program: it comes before main.
func (p *program) source() string {
	var imports strings.Builder
	for _, path := range append([]string{"os", "loadline.dev/loadline/hack/reference/command"}, p.imports...) {
		fmt.Fprintf(&imports, "\t%q\n", path)
	}
	return fmt.Sprintf(`package main

import (
%s)

func init() {
	if err := command.Write(os.Stdout, %s); err != nil {
		os.Stderr.WriteString(err.Error() + "\n")
		os.Exit(1)
	}
	os.Exit(0)
}
`, imports.String(), p.command)
}
