package text

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func written(tb testing.TB, t *Table) string {
	tb.Helper()
	var b strings.Builder
	if err := t.Write(&b); err != nil {
		tb.Fatal(err)
	}
	return b.String()
}

func lines(text ...string) string { return strings.Join(text, "\n") + "\n" }

func TestColumnsAreAlignedToTheirSide(t *testing.T) {
	t.Parallel()
	table := NewTable(Left("JOB"), Right("NEUTRAL"), Right("DILATION"), Left("WAITS FOR"))
	table.Add("filecomp", "78.1s", "1.42×", "disk 0.42 (std-io)")
	table.Add("std-io", "200.0s", "1.26×", "")
	want := lines(
		"JOB        NEUTRAL   DILATION   WAITS FOR",
		"filecomp     78.1s      1.42×   disk 0.42 (std-io)",
		"std-io      200.0s      1.26×",
	)
	if diff := cmp.Diff(want, written(t, table)); diff != "" {
		t.Errorf("table differs (-want +got):\n%s", diff)
	}
}

func TestTheHeaderCanBeLeftOut(t *testing.T) {
	t.Parallel()
	table := NewTable(Left("A LONG HEADER"), Right("N"))
	table.NoHeader = true
	table.Add("a", "1")
	if diff := cmp.Diff(lines("a   1"), written(t, table)); diff != "" {
		t.Errorf("table differs (-want +got):\n%s", diff)
	}
}

func TestAShortRowEndsInARemarkThatWidensNoColumn(t *testing.T) {
	t.Parallel()
	table := NewTable(Left("POOL"), Right("SERVERS"), Right("SLA"), Right("ATTAINED"))
	table.Add("search", "3", "80.0%", "86.7%")
	table.Add("shared", "6", "checkout is the one that needs it")
	want := lines(
		"POOL     SERVERS     SLA   ATTAINED",
		"search         3   80.0%      86.7%",
		"shared         6   checkout is the one that needs it",
	)
	if diff := cmp.Diff(want, written(t, table)); diff != "" {
		t.Errorf("table differs (-want +got):\n%s", diff)
	}
}

func TestWideAndCombiningCharactersKeepTheColumnsStraight(t *testing.T) {
	t.Parallel()
	table := NewTable(Left("NAME"), Right("N"))
	table.Add("日本語", "1")
	table.Add("cafe\u0301", "2")
	table.Add("├─ web", "3")
	want := lines("NAME     N", "日本語   1", "cafe\u0301     2", "├─ web   3")
	if diff := cmp.Diff(want, written(t, table)); diff != "" {
		t.Errorf("table differs (-want +got):\n%s", diff)
	}
}

func TestControlCharactersArePrintedAsEscapes(t *testing.T) {
	t.Parallel()
	table := NewTable(Left("NAME"), Right("N"))
	table.Add("a\nb\x1b[31m\u202e\xff", "1")
	want := lines("NAME                     N", `a\nb\x1b[31m\u202e\xff   1`)
	if diff := cmp.Diff(want, written(t, table)); diff != "" {
		t.Errorf("table differs (-want +got):\n%s", diff)
	}
}

func TestATableWithoutColumnsPrintsNothing(t *testing.T) {
	t.Parallel()
	if got := written(t, &Table{}); got != "" {
		t.Errorf("got %q, want nothing", got)
	}
}

func TestARowWithTooManyCellsIsABug(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	NewTable(Left("A")).Add("1", "2")
}

func TestAnErrorOfTheWriterIsReturned(t *testing.T) {
	t.Parallel()
	table := NewTable(Left("A"))
	if err := table.Write(brokenWriter{}); !errors.Is(err, errBroken) {
		t.Errorf("error = %v, want the writer's", err)
	}
}

var errBroken = errors.New("broken pipe")

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errBroken }

func TestARightColumnEndsAtTheSameCellInEveryLine(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		table := NewTable(Left("NAME"), Right("N"))
		for range rapid.IntRange(0, 5).Draw(t, "rows") {
			table.Add(rapid.String().Draw(t, "name"), rapid.StringMatching(`[0-9]{1,6}`).Draw(t, "n"))
		}
		var b strings.Builder
		if err := table.Write(&b); err != nil {
			t.Fatal(err)
		}
		printed := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
		if len(printed) != len(table.rows)+1 {
			t.Fatalf("%d lines for a header and %d rows", len(printed), len(table.rows))
		}
		for _, line := range printed {
			if displayWidth(line) != displayWidth(printed[0]) {
				t.Fatalf("%q is %d cells wide, the header %d", line, displayWidth(line), displayWidth(printed[0]))
			}
		}
	})
}

func TestALongCellDoesNotMakeAllRowsWide(t *testing.T) {
	t.Parallel()
	table := NewTable(Left("NAME"), Left("N"))
	table.Add(strings.Repeat("x", 1_000_000), "1")
	for range 1000 {
		table.Add("a", "2")
	}
	if got := len(written(t, table)); got > 2<<20 {
		t.Errorf("the table has %d bytes", got)
	}
}

func TestACellOfALineIsRated(t *testing.T) {
	t.Parallel()
	table := NewTable(Right("N"), Left("STATE"), Left("WHAT"))
	table.Add("1", "ok", "well")
	table.Rate(1, Good)
	table.Add("100", "世界 failed", "1")
	table.Rate(0, Bad)
	table.Add("2", "a remark")
	table.Rate(2, Bad) // there is no such cell
	want := [][]Piece{
		{{Text: "  N   STATE         WHAT"}},
		{{Text: "  1   "}, {"ok", Good}, {Text: "            well"}},
		{{}, {"100", Bad}, {Text: "   世界 failed   1"}},
		{{Text: "  2   a remark"}},
	}
	if diff := cmp.Diff(want, table.Lines()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
