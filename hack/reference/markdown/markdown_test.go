package markdown

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestTextShowsAsItStands(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ text, want string }{
		"plain":                      {"loadings add up to 1, at most", "loadings add up to 1, at most"},
		"an angle bracket":           {"-f <file>", `-f \<file>`},
		"stars":                      {"2*3*4", `2\*3\*4`},
		"a name with underscores":    {"loadline_pool_servers_needed", "loadline_pool_servers_needed"},
		"underscores around a word":  {"_now_", `\_now\_`},
		"brackets":                   {"NAME[=WEIGHT]", `NAME\[=WEIGHT\]`},
		"a backtick":                 {"`x`", "\\`x\\`"},
		"a backslash":                {`a\b`, `a\\b`},
		"a home":                     {"~/.kube/config", `\~/.kube/config`},
		"a formula":                  {"$HOME and $PATH", `\$HOME and \$PATH`},
		"an entity":                  {"&lt; &amp; a & b;", `\&lt; \&amp; a & b;`},
		"a heading":                  {"# one\n##two", "\\# one\n##two"},
		"a quote":                    {"> one", `\> one`},
		"a list":                     {"- one\n-1 is less than 0", "\\- one\n-1 is less than 0"},
		"a numbered list":            {"1. one\n0.6 jobs", "1\\. one\n0.6 jobs"},
		"an underline":               {"one\n---\n===", "one\n\\---\n\\==="},
		"an address":                 {"See https://a.b/c_d_#e. And (http://x/y*z).", "See <https://a.b/c_d_#e>. And (<http://x/y*z>)."},
		"blanks":                     {"    no code\n\ttoo", "no code\ntoo"},
		"other scripts":              {"λ ≥ 1 ⌈r⌉ 負荷 \U0001F6A2", "λ ≥ 1 ⌈r⌉ 負荷 \U0001F6A2"},
		"what is no text":            {"a\xffb\x00c", "a\uFFFDb\uFFFDc"},
		"an underscore of Cyrillics": {"а_б", "а_б"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := Escape(test.text); got != test.want {
				t.Errorf("Escape(%q) = %q, want %q", test.text, got, test.want)
			}
		})
	}
}

// What is left unescaped of a text must be the text itself.
func TestEscapingLosesNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching("[-a-z0-9 #>+=.)(\\\\`*_~<&;$|!\\[\\]λ×]{0,40}").Draw(t, "text")
		escaped := Escape(text)
		var shown strings.Builder
		for i := 0; i < len(escaped); i++ {
			if escaped[i] == '\\' {
				i++
			}
			shown.WriteByte(escaped[i])
		}
		if got, want := shown.String(), strings.TrimSpace(text); got != want || !utf8.ValidString(escaped) {
			t.Fatalf("%q is escaped as %q, which shows as %q", text, escaped, got)
		}
	})
}

func TestCodeKeepsItsBackticks(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":         "",
		"a|b":      "`a|b`",
		"a`b":      "``a`b``",
		"`a`":      "`` `a` ``",
		"two\nrow": "`two row`",
	} {
		if got := Code(text); got != want {
			t.Errorf("Code(%q) = %q, want %q", text, got, want)
		}
	}
	if got, want := Block("sh", "echo '```'\n"), "````sh\necho '```'\n````"; got != want {
		t.Errorf("Block = %q, want %q", got, want)
	}
}

const help = `The operator keeps the status
of objects:

  One    the first
    and  more

### On *Linux*:

Press < to go back.
`

func TestProseHasParagraphsAndBlocks(t *testing.T) {
	t.Parallel()
	want := "The operator keeps the status\nof objects:\n\n```text\nOne    the first\n  and  more\n```\n\n**On \\*Linux\\*:**\n\nPress \\< to go back."
	if diff := cmp.Diff(want, Prose(help)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := Prose("\n\n"); got != "" {
		t.Errorf("nothing gives %q", got)
	}
}

func TestACellHasOneLine(t *testing.T) {
	t.Parallel()
	want := `The operator keeps the status of objects:<br><br>One    the first<br>and  more<br><br>\### On \*Linux\*:<br><br>Press \< to go back.`
	if diff := cmp.Diff(want, Cell(help)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAPageBeginsWithItsContents(t *testing.T) {
	t.Parallel()
	page := NewPage("The <page>")
	page.Add("What it is about.", "")
	page.Heading(2, "First", "first")
	page.Add(Table([]string{"a", "b"}, []string{"x | y", Code("p|q")}))
	page.Heading(3, "spec.names[]", "spec-names")
	page.Heading(2, "Über 2", "über-2")
	page.Add(List("one", "two"))
	want := Marker + `

# The \<page>

What it is about.

- [First](#first)
  - [spec.names\[\]](#spec-names)
- [Über 2](#über-2)

## First

| a | b |
|---|---|
| x \| y | ` + "`p\\|q`" + ` |

### <a id="spec-names"></a>spec.names\[\]

## Über 2

- one
- two
`
	if diff := cmp.Diff(want, page.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAShortPageNeedsNoContents(t *testing.T) {
	t.Parallel()
	page := NewPage("Short")
	page.Heading(2, "Only", "only")
	if got := page.String(); strings.Contains(got, "](") {
		t.Errorf("a page of one chapter has contents:\n%s", got)
	}
}
