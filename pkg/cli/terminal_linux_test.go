package cli_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"loadline.dev/loadline/pkg/cli"
	"loadline.dev/loadline/pkg/cli/clitest"

	"golang.org/x/sys/unix"

	"loadline.dev/loadline/pkg/cli/verb"
	"loadline.dev/loadline/pkg/text"
)

// aTerminal returns both ends of a pseudo-terminal.
func aTerminal(t *testing.T) (keyboard, screen *os.File) {
	t.Helper()
	keyboard, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { keyboard.Close() })
	raw, err := keyboard.SyscallConn() // Fd would make reading from it wait without end
	number := 0
	if err == nil {
		controlErr := raw.Control(func(fd uintptr) {
			if number, err = unix.IoctlGetInt(int(fd), unix.TIOCGPTN); err == nil {
				err = unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0)
			}
		})
		err = errors.Join(err, controlErr)
	}
	if err == nil {
		screen, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { screen.Close() })
	return keyboard, screen
}

//nolint:paralleltest // it changes the environment
func TestColorsAndProgressAreForTerminalsThatWantThem(t *testing.T) {
	keyboard, screen := aTerminal(t)
	file, err := os.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	t.Setenv("TERM", "xterm")
	t.Setenv("NO_COLOR", "")
	for name, test := range map[string]struct {
		term, noColor string
		lines, colors bool
	}{
		"a terminal":                {"xterm", "", true, true},
		"a terminal without colors": {"xterm", "1", true, false},
		"a dumb one":                {"dumb", "", false, false},
	} {
		t.Setenv("TERM", test.term)
		t.Setenv("NO_COLOR", test.noColor)
		stream := verb.NewStream(screen)
		if lines := verb.NewProgress(stream).Visible(); lines != test.lines {
			t.Errorf("%s: lines that move: %t", name, lines)
		}
		want := map[bool]string{false: "failed\r\n", true: "\x1b[31mfailed\x1b[0m\r\n"}[test.colors]
		if got := printed(t, stream, keyboard); got != want {
			t.Errorf("%s: the line is %q, want %q", name, got, want)
		}
	}
	t.Setenv("TERM", "xterm")
	t.Setenv("NO_COLOR", "")
	if verb.NewProgress(verb.NewStream(file)).Visible() || verb.NewProgress(verb.NewStream(&bytes.Buffer{})).Visible() {
		t.Error("a file counts as a terminal")
	}
	reader, err := os.Open(file.Name())
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if got := printed(t, verb.NewStream(file), reader); got != "failed\n" {
		t.Errorf("a file has %q", got)
	}
}

// printed prints a table of one bad word on a stream, and returns the line that arrives.
func printed(t *testing.T, stream *verb.Stream, at *os.File) string {
	t.Helper()
	table := text.NewTable(text.Left("STATE"))
	table.Add("failed")
	table.Rate(0, text.Bad)
	page := verb.Page{Stream: stream, NoHeaders: true}
	if err := page.Table(table); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(at).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return line
}

// A terminal without a width, as some consoles are, has 80 columns, and the line is cut to fit.
//
//nolint:paralleltest // it changes the environment
func TestProgressIsShownAsFarAsTheTerminalIsWide(t *testing.T) {
	t.Setenv("TERM", "xterm")
	keyboard, screen := aTerminal(t)
	for columns, want := range map[uint16]int{0: 79, 1: 0, 20: 19, 200: 100} {
		if err := unix.IoctlSetWinsize(int(screen.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Col: columns, Row: 24}); err != nil {
			t.Skip(err)
		}
		progress := verb.NewProgress(verb.NewStream(screen))
		progress.Show(func(time.Time) string { return strings.Repeat("x", 100) })
		if _, err := screen.WriteString("\n"); err != nil {
			t.Fatal(err)
		}
		shown := "\r\x1b[K" + strings.Repeat("x", want) + "\r\n"
		buffer := make([]byte, len(shown))
		if _, err := io.ReadFull(keyboard, buffer); err != nil || string(buffer) != shown {
			t.Errorf("%d columns: %q, %v, want %q", columns, buffer, err, shown)
		}
	}
}

//nolint:paralleltest // it changes the environment
func TestFitSaysOnATerminalHowFarItIs(t *testing.T) {
	t.Setenv("TERM", "xterm")
	keyboard, screen := aTerminal(t)
	var out bytes.Buffer
	if code := cli.Run(t.Context(), "v1", []string{"fit", "-f", "-"}, cli.Streams{In: strings.NewReader(clitest.Observations), Out: &out, Err: screen}); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	if _, err := screen.WriteString("\n"); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(keyboard).ReadString('\n')
	if want := "\r\x1b[Kchoosing a model  ░░░░░░░░░░░░░░░░░░░░░░░░  0%"; err != nil || !strings.HasPrefix(line, want) || !strings.HasSuffix(line, "\r\x1b[K\r\n") {
		t.Errorf("%q, %v, want %q first, and the line taken away last", line, err, want)
	}
	if !strings.Contains(out.String(), "JOB") {
		t.Errorf("the answer is %q", out.String())
	}
}

// On a terminal the states of checks are colored, and columns stay where they are.
//
//nolint:paralleltest // it changes the environment
func TestStatusIsColoredOnATerminal(t *testing.T) {
	t.Setenv("TERM", "xterm")
	t.Setenv("NO_COLOR", "")
	keyboard, screen := aTerminal(t)
	server := clitest.NewServer(t)
	code := cli.Run(t.Context(), "v1", []string{"status", "--kubeconfig", server.Kubeconfig(t)}, cli.Streams{In: strings.NewReader(""), Out: screen, Err: &bytes.Buffer{}})
	if code != 1 {
		t.Errorf("exit code %d", code)
	}
	if err := keyboard.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Skip(err)
	}
	seen := ""
	for buffer := make([]byte, 4096); !strings.Contains(seen, "  scheduler: "); { // its last line
		n, err := keyboard.Read(buffer)
		if err != nil {
			t.Fatalf("%v after %q", err, seen)
		}
		seen += string(buffer[:n])
	}
	for _, want := range []string{
		"cluster                \x1b[32mok\x1b[0m        Kubernetes", "manager                \x1b[31mfailed\x1b[0m    not installed", "admission policies     \x1b[33mwarning\x1b[0m   none",
	} {
		if !strings.Contains(seen, want) {
			t.Errorf("%q is not in\n%q", want, seen)
		}
	}
}
