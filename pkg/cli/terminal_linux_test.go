package cli_test

import (
	"bufio"
	"bytes"
	"cmp"
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
	t.Setenv("COLUMNS", "")
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

// On a terminal a table is shortened to its width, or that of COLUMNS; elsewhere, and with -o wide, it is not.
//
//nolint:paralleltest // it changes the environment
func TestTablesAreShortenedToTheWidthOfATerminal(t *testing.T) {
	t.Setenv("TERM", "xterm")
	files := []string{"-f", "../../docs/examples/who/cluster.yaml", "--usage", "../../docs/examples/who/usage.json"}
	for name, test := range map[string]struct {
		width            uint16
		columns, noColor string
		format           string
		want             string // of the row of shop/cart; empty: the whole row
	}{
		"120 columns":            {width: 120, noColor: "1", want: "6.74 ± 0.15×   shop/ca…4-x2k8p   > 2m    etl/sort-2 +2.84, …           cpu   step 1: move etl/sort-2 to node-3   1.02× …"},
		"120 columns, in colors": {width: 120, want: "\x1b[31m6.74 ± 0.15×\x1b[0m   shop/ca…4-x2k8p   > 2m    etl/sort-2 +2.84, …           cpu   step 1: move etl/sort-2 to node-3   1.02× …"},
		"COLUMNS":                {width: 20, columns: "120", noColor: "1", want: "6.74 ± 0.15×   shop/ca…4-x2k8p   > 2m    etl/sort-2 +2.84, …           cpu   step 1: move etl/sort-2 to node-3   1.02× …"},
		"COLUMNS is no number":   {width: 300, columns: "all", noColor: "1"},
		"300 columns":            {width: 300, columns: "", noColor: "1"},
		"too few columns":        {width: 40, noColor: "1"},
		"no width":               {width: 0, noColor: "1"},
		"wide":                   {width: 120, noColor: "1", format: "wide"},
	} {
		t.Setenv("COLUMNS", test.columns)
		t.Setenv("NO_COLOR", test.noColor)
		args, want := append([]string{"who", "-o", cmp.Or(test.format, "table")}, files...), test.want
		if want == "" {
			code, whole, _ := clitest.Run(t, "", args...)
			if want = rowOf(whole, "shop/cart-7c9f4-x2k8p"); code != 0 || want == "" {
				t.Fatalf("%s: exit code %d, and\n%s", name, code, whole)
			}
		}
		if got := rowOf(onTerminal(t, test.width, args...), "x2k8p"); got != want {
			t.Errorf("%s: the row is\n%q, want\n%q", name, got, want)
		}
	}
}

// onTerminal returns what a command line prints on a terminal of a width, to its last line.
func onTerminal(t *testing.T, width uint16, args ...string) string {
	t.Helper()
	keyboard, screen := aTerminal(t)
	if err := unix.IoctlSetWinsize(int(screen.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Col: width, Row: 24}); err != nil {
		t.Skip(err)
	}
	if err := keyboard.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Skip(err)
	}
	const end = "that is all"
	go func() { // a terminal takes no more than is read
		if code := cli.Run(t.Context(), "v1", args, cli.Streams{In: strings.NewReader(""), Out: screen, Err: io.Discard}); code != 0 {
			t.Errorf("exit code %d", code)
		}
		if _, err := screen.WriteString(end + "\n"); err != nil {
			t.Error(err)
		}
	}()
	var seen strings.Builder
	for reader := bufio.NewReader(keyboard); ; {
		line, err := reader.ReadString('\n')
		if err != nil {
			t.Fatalf("%v after %q", err, seen.String())
		}
		if line = strings.TrimSuffix(line, "\r\n"); line == end {
			return seen.String()
		}
		seen.WriteString(line + "\n")
	}
}

// rowOf returns the first line that has a word.
func rowOf(printed, word string) string {
	for line := range strings.Lines(printed) {
		if strings.Contains(line, word) {
			return strings.TrimSuffix(line, "\n")
		}
	}
	return ""
}
