package verb

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOnlyJoinedErrorsMakeLines(t *testing.T) {
	t.Parallel()
	outside := errors.New("\x1b]0;pwned\x07RED\nOK: all well")
	const said = `\x1b]0;pwned\aRED\nOK: all well`
	a, b := errors.New("a is wrong"), errors.New("b is wrong")
	many := make([]error, mostErrors+3)
	for i := range many {
		many[i] = a
	}
	for name, test := range map[string]struct {
		err  error
		want []string
	}{
		"one":                        {a, []string{"a is wrong"}},
		"from outside":               {outside, []string{said}},
		"from outside, wrapped":      {fmt.Errorf("listing pods:\n%w, so", outside), []string{`listing pods:\n` + said + ", so"}},
		"joined":                     {errors.Join(a, outside, b), []string{"a is wrong", said, "b is wrong"}},
		"joined and wrapped":         {fmt.Errorf("%q: %w (twice)", "x\ny", errors.Join(a, b)), []string{`"x\ny": a is wrong`, "b is wrong (twice)"}},
		"joined of joined":           {errors.Join(errors.Join(a, b), outside), []string{"a is wrong", "b is wrong", said}},
		"two in a sentence":          {fmt.Errorf("%w and\n%w", a, outside), []string{`a is wrong and\n` + said}},
		"one that says another word": {No(fmt.Errorf("not: %w", errors.Join(outside, a))), []string{"not: " + said, "a is wrong"}},
		"without end":                {errors.New(strings.Repeat("x", longestError+1234)), []string{strings.Repeat("x", longestError) + "… (1,234 more characters)"}},
		"very many":                  {errors.Join(many...), append(slicesRepeat("a is wrong", mostErrors), "and 3 more lines")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, ErrorLines(test.err)); diff != "" {
				t.Errorf("the lines differ (-want +got):\n%s", diff)
			}
		})
	}
}

func slicesRepeat(s string, n int) []string {
	return strings.Split(strings.TrimSuffix(strings.Repeat(s+"\n", n), "\n"), "\n")
}

func TestAValueMakesNoLineOnAStream(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	s := NewStream(&out)
	err := errors.Join(s.Lines("a\nb", "c\x1b[2J"), s.Warn("%s is odd", "d\r\ne"), s.Spans(Span{Text: "f\n"}, Span{Text: "g\x1b", Color: Red}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Writer().Write([]byte("h\ti\x1b\n")); err != nil {
		t.Fatal(err)
	}
	want := `a\nb` + "\n" + `c\x1b[2J` + "\n" + `Warning: d\r\ne is odd` + "\n" + `f\ng\x1b` + "\nh\ti" + `\x1b` + "\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("the stream differs (-want +got):\n%s", diff)
	}
}
