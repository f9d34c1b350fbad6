package cells

import (
	"bytes"
	"encoding/csv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestTextIsNoFormulaAndNumbersStayNumbers(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		cell Cell
		want string
	}{
		"a name":                    {Text("etl/sort-2"), "etl/sort-2"},
		"a program":                 {Text("=cmd|' /C calc'!A0"), "'=cmd|' /C calc'!A0"},
		"a sum":                     {Text("+1+1"), "'+1+1"},
		"text that begins with -":   {Text("-2"), "'-2"},
		"a function":                {Text("@SUM(A1)"), "'@SUM(A1)"},
		"a tab before it":           {Text("\t=1"), "'\t=1"},
		"a return before it":        {Text("\r=1"), "'\r=1"},
		"space before it":           {Text("  =1"), "'  =1"},
		"full width":                {Text("＝1"), "'＝1"},
		"a mark that was there":     {Text("'=1"), "''=1"},
		"an apostrophe of a name":   {Text("'s job"), "'s job"},
		"a sign inside":             {Text("a=b"), "a=b"},
		"a negative number":         {Number(-1.5), "-1.5"},
		"a number with all digits":  {Exactly(-0.1), "-0.1"},
		"a whole negative number":   {Count(-3), "-3"},
		"nothing, and text of that": {Text(""), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if test.cell.content != test.want {
				t.Errorf("the cell is %q, want %q", test.cell.content, test.want)
			}
		})
	}
}

func TestTextIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		given := rapid.StringOf(rapid.SampledFrom([]rune("'=+-@ \t\r＝ab\",\n"))).Draw(t, "text")
		cell := Text(given)
		if strings.IndexAny(strings.TrimLeft(cell.content, " "), formulas) == 0 {
			t.Errorf("%q is written as %q, a formula", given, cell.content)
		}
		if got := Plain(cell.content); got != given {
			t.Errorf("%q is read as %q", given, got)
		}
	})
}

func TestRowsAreCSV(t *testing.T) {
	t.Parallel()
	var file bytes.Buffer
	w := NewWriter(&file)
	for _, err := range []error{w.Header("job", "wait"), w.Write(Text(`a,"b`), Number(-1)), w.Write(Text("=1"), Cell{}), w.Flush()} {
		if err != nil {
			t.Fatal(err)
		}
	}
	got, err := csv.NewReader(&file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([][]string{{"job", "wait"}, {`a,"b`, "-1"}, {"'=1", ""}}, got); diff != "" {
		t.Errorf("the rows differ (-want +got):\n%s", diff)
	}
}
