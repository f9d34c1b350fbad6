package docs

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"loadline.dev/loadline/test/docs/page"
)

// Pages are run one after the other, each from its first command to its last, as a reader would: what one command writes
// the next may read.
func TestTheCommandsOfThePagesDoWhatTheySay(t *testing.T) {
	c := newCluster(t)
	for _, p := range pages {
		if !written(p) {
			continue
		}
		t.Run(p.Path, func(t *testing.T) {
			s := newShell(t, c)
			for i := range p.Blocks {
				s.accept(p, &p.Blocks[i])
				for _, command := range p.Blocks[i].Commands() {
					s.do(p, &p.Blocks[i], command)
				}
			}
		})
	}
}

// shell runs the commands of a page.
type shell struct {
	*testing.T
	cluster *clusterUnderTest
	dir     string
}

// newShell returns a shell in a folder that looks like the root of the repository and may be written to.
func newShell(t *testing.T, c *clusterUnderTest) *shell {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"charts", "config", "docs", "test"} {
		if err := os.Symlink(filepath.Join(root, name), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return &shell{t, c, dir}
}

// do runs a command, or checks what is there to be checked of it.
func (s *shell) do(p *page.Page, b *page.Block, command page.Command) {
	s.Helper()
	where := at(p, command.Line)
	if !s.cluster.pools && strings.HasSuffix(command.Text, "-k config/default") {
		s.Logf("%s: left out", where)
		return
	}
	if _, noted := strings.CutPrefix(b.Note, "not run: "); noted {
		s.check(where, command.Text)
		return
	}
	for _, e := range elsewhere {
		if e.page == p.Path && strings.HasPrefix(command.Text, e.begins) {
			s.check(where, command.Text)
			return
		}
	}
	if !strings.HasPrefix(command.Text, "kubectl ") {
		if !s.check(where, command.Text) {
			s.Errorf("%s: %s\nnobody knows how to run or check this: add it to the list checks", where, command.Text)
		}
		return
	}
	printed, err := s.run(command.Text)
	if exit := new(exec.ExitError); errors.As(err, &exit) && exit.ExitCode() == 1 && strings.Contains(command.Printed, "Error: ") {
		err = nil // the page shows that the answer is no
	}
	switch {
	case err != nil:
		s.Errorf("%s: %s\n%v\n%s", where, command.Text, err, printed)
	case !command.Shown:
	case strings.Contains(command.Text, "kubectl loadline "):
		if !matches(printed, command.Printed) {
			s.Errorf("%s: %s\nprints\n%s\nthe page says\n%s", where, command.Text, printed, command.Printed)
		}
	default:
		if why := otherColumns(printed, command.Printed); why != "" {
			s.Errorf("%s: %s\n%s", where, command.Text, why)
		}
	}
}

// check carries out the check of a command that is not run, and reports whether there is one.
func (s *shell) check(where, text string) bool {
	s.Helper()
	for _, c := range checks {
		if strings.HasPrefix(text+" ", c.begins) {
			if err := c.check(strings.Fields(withoutRemark(text))); err != nil {
				s.Errorf("%s: %s\n%v", where, text, err)
			}
			return true
		}
	}
	return false
}

// run runs a command line of kubectl, with what else is in it, and returns what it prints.
func (s *shell) run(text string) (printed string, err error) {
	for _, p := range placeholders {
		text = strings.ReplaceAll(text, p.name, p.stands)
	}
	shell := exec.CommandContext(s.Context(), "bash", "-euo", "pipefail", "-c", text)
	shell.Dir = s.dir
	shell.Env = append(os.Environ(), "KUBECONFIG="+s.cluster.kubeconfig, "PATH="+plugin+":"+s.cluster.kubectl+":"+os.Getenv("PATH"), "NO_COLOR=1")
	var both bytes.Buffer
	shell.Stdout, shell.Stderr = &both, &both
	err = shell.Run()
	return both.String(), err
}

// placeholders are names that the reader replaces, and what they stand for here.
var placeholders = []struct{ name, stands string }{
	{"NAMESPACE NAME", "etl filecomp"},
	{"NAMESPACE", "etl"},
}

// elapsed are times that differ from run to run.
var elapsed = regexp.MustCompile(`\d+(\.\d+)?(ns|µs|ms|s) by `)

// matches reports whether a text is as shown. Of what is shown a line "…" stands for any lines, and "…" at the end of a
// line for any rest.
func matches(text, shown string) bool {
	const ellipsis = "…"
	var b strings.Builder
	b.WriteString("^")
	for line := range strings.Lines(elapsed.ReplaceAllString(shown, "TIME by ")) {
		before, open := strings.CutSuffix(line, ellipsis+"\n")
		switch {
		case open && strings.TrimSpace(before) == "":
			b.WriteString(`(.*\n)*`)
		case open:
			b.WriteString(regexp.QuoteMeta(before) + `.*\n`)
		default:
			b.WriteString(regexp.QuoteMeta(line))
		}
	}
	b.WriteString("$")
	return regexp.MustCompile(b.String()).MatchString(elapsed.ReplaceAllString(text, "TIME by "))
}

// otherColumns says how the headers of what kubectl prints differ from what is shown; the rows below are examples.
func otherColumns(printed, shown string) string {
	header, _, _ := strings.Cut(shown, "\n")
	if header == "" || header != strings.ToUpper(header) || !strings.ContainsFunc(header, func(c rune) bool { return c >= 'A' && c <= 'Z' }) {
		return ""
	}
	got, _, _ := strings.Cut(printed, "\n")
	if !slices.Equal(strings.Fields(got), strings.Fields(header)) {
		return fmt.Sprintf("has the columns %q, the page shows %q", got, header)
	}
	return ""
}

// withoutRemark removes what stands behind # at the end of a command.
func withoutRemark(text string) string {
	text, _, _ = strings.Cut(text, " #")
	return strings.TrimSpace(text)
}
