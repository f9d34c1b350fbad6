package text

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestWhatCannotBeSeenIsEscaped(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ given, want string }{
		"plain text":                       {"etl/sort-2 2.84× ± 日本語 é", "etl/sort-2 2.84× ± 日本語 é"},
		"a mark of the letter before it":   {"cafe\u0301", "cafe\u0301"},
		"a line end":                       {"a\nb\r\n", `a\nb\r\n`},
		"a tab":                            {"a\tb", `a\tb`},
		"a colour and a title":             {"\x1b[31mRED\x1b]0;pwned\x07", `\x1b[31mRED\x1b]0;pwned\a`},
		"C1, of which terminals know some": {"\u009b31m", `\u009b31m`},
		"NUL and DEL":                      {"\x00\x7f", `\x00\x7f`},
		"another direction of the text":    {"\u202egnp.exe\u2066\u2069", `\u202egnp.exe\u2066\u2069`},
		"no width":                         {"pay\u200bpal\ufeff\u2060", `pay\u200bpal\ufeff\u2060`},
		"a joiner between letters":         {"pay\u200dpal", `pay\u200dpal`},
		"a joiner at the end":              {"👩\u200d", `👩\u200d`},
		"a joiner between emoji":           {"👩\u200d👧 ❤️\u200d🔥", "👩\u200d👧 ❤️\u200d🔥"},
		"blank letters":                    {"a\u3164\u115f\u2800b", `a\u3164\u115f\u2800b`},
		"line and paragraph separators":    {"a\u2028b\u2029", `a\u2028b\u2029`},
		"tags":                             {"\U000e0041", `\U000e0041`},
		"bytes that are not UTF-8":         {"a\xffb\xc3", `a\xffb\xc3`},
		"the character that replaces such": {"a\ufffdb", "a\ufffdb"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := Printable(test.given); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestPrintableTextStaysAsItIs(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		once := Printable(string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")))
		if again := Printable(once); again != once || !utf8.ValidString(once) || strings.ContainsFunc(once, isUnseen) {
			t.Errorf("%q becomes %q", once, again)
		}
	})
}

func TestALongValueIsAbridged(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{"": "", "日本語": "日本語", "日本語で": "日本語… (1 more character)", "abcde": "abc… (2 more characters)"} {
		if got := Abridged(given, 3); got != want {
			t.Errorf("%q becomes %q, want %q", given, got, want)
		}
	}
}

// What a stream escapes does not depend on how the text is cut into writes.
func TestAWriterKeepsLinesAndEscapesTheRest(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		alphabet := rapid.SampledFrom([]string{"a", "é", "日", "👩", "\n", "\t", "\x1b", "\r", "\u202e", "\u009b", "\xff", "\xe6\x97", "\xf0"})
		parts := rapid.SliceOf(alphabet).Draw(t, "text")
		var want, got strings.Builder
		for line := range strings.SplitAfterSeq(strings.Join(parts, ""), "\n") {
			fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
			for i := range fields {
				fields[i] = Printable(fields[i])
			}
			want.WriteString(strings.Join(fields, "\t") + line[len(strings.TrimSuffix(line, "\n")):])
		}
		w := NewWriter(&got)
		rest := strings.Join(parts, "")
		for rest != "" {
			n := rapid.IntRange(1, len(rest)).Draw(t, "bytes")
			if written, err := w.Write([]byte(rest[:n])); err != nil || written != n {
				t.Fatalf("wrote %d of %d bytes: %v", written, n, err)
			}
			rest = rest[n:]
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want.String(), got.String()); diff != "" {
			t.Errorf("the text differs (-want +got):\n%s", diff)
		}
	})
}
