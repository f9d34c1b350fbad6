package page_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadline.dev/loadline/test/docs/page"
)

const text = "# A page: p'·p̄, twice\n" + `
Text that [links](other.md#there) and
    goes on, ` + "`[not](a-link)`" + `.

    $ first --flag \
      value
    printed

    printed, too
    $ second

<!-- not run: it
     never ends -->

    kubectl get pods   # a comment
    kubectl get nodes

## Twice

| <a id="a-cell"></a>a | [cell](../x.md) |

` + "```yaml\nkind: Pod\n```\n" + `
## Twice

    λ = 1
`

func TestAPageIsRead(t *testing.T) {
	t.Parallel()
	p, err := page.Parse("docs/a.md", text)
	if err != nil {
		t.Fatal(err)
	}
	want := &page.Page{
		Path: "docs/a.md",
		Blocks: []page.Block{
			{Line: 6, Text: "$ first --flag \\\n  value\nprinted\n\nprinted, too\n$ second\n"},
			{Line: 16, Text: "kubectl get pods   # a comment\nkubectl get nodes\n", Note: "not run: it never ends"},
			{Line: 24, Language: "yaml", Text: "kind: Pod\n"},
			{Line: 29, Text: "λ = 1\n"},
		},
		Links:   []page.Link{{Line: 3, Target: "other.md#there"}, {Line: 21, Target: "../x.md"}},
		Anchors: map[string]bool{"a-page-pp̄-twice": true, "a-cell": true, "twice": true, "twice-1": true},
	}
	if diff := cmp.Diff(want, p); diff != "" {
		t.Error(diff)
	}
}

func TestCommandsAreTakenOutOfBlocks(t *testing.T) {
	t.Parallel()
	p, err := page.Parse("docs/a.md", text)
	if err != nil {
		t.Fatal(err)
	}
	var got []page.Command
	for i := range p.Blocks {
		got = append(got, p.Blocks[i].Commands()...)
	}
	want := []page.Command{
		{Line: 6, Text: "first --flag value", Shown: true, Printed: "printed\n\nprinted, too\n"},
		{Line: 11, Text: "second", Shown: true},
		{Line: 16, Text: "kubectl get pods   # a comment"},
		{Line: 17, Text: "kubectl get nodes"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestWhatDoesNotEndIsAnError(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"```\ncode\n", "<!-- comment\n"} {
		if _, err := page.Parse("docs/a.md", text); err == nil || !strings.HasPrefix(err.Error(), "docs/a.md") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
