package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadline.dev/loadline/hack/reference/command"
	"loadline.dev/loadline/hack/reference/markdown"
)

func TestACommandHasAPage(t *testing.T) {
	t.Parallel()
	inherited := []command.Flag{{Name: "kubeconfig", Value: "file", Usage: "Path of a kubeconfig file."}}
	tool := command.Command{
		Path: "kubectl tool", Usage: "kubectl tool", Short: "Be of use", Flags: inherited,
		Commands: []command.Command{{
			Path: "kubectl tool dig", Usage: "kubectl tool dig FILE [flags]", Short: "Dig a hole", Long: "Digs in\n\n  earth   easily\n  stone   hardly",
			Example: "  # A hole\n  kubectl tool dig hole.yaml", Aliases: []string{"delve"}, Inherited: inherited,
			Flags: []command.Flag{
				{Name: "depth", Shorthand: "d", Value: "int", Default: "3", Usage: "how deep to dig, <depth> | more"},
				{Name: "place", Value: "name", Usage: "where to dig (default the garden)"},
				{Name: "spade", Value: "string", Usage: "Which spade to use.", Required: true},
			},
		}},
	}
	b := book{}
	b.addCommand(&tool, nil)
	want := book{
		"cli/kubectl-tool.md": markdown.Marker + `

# kubectl tool

Be of use.

` + "```text\nkubectl tool\n```" + `

## Commands

| Command | What it does |
|---|---|
| [` + "`kubectl tool dig`" + `](kubectl-tool-dig.md) | Dig a hole. |

## Flags

| Flag | Default | What it does |
|---|---|---|
| <a id="kubeconfig"></a>` + "`--kubeconfig file`" + ` |  | Path of a kubeconfig file. |
`,
		"cli/kubectl-tool-dig.md": markdown.Marker + `

# kubectl tool dig

Dig a hole.

` + "```text\nkubectl tool dig FILE [flags]\n```" + `

Digs in

` + "```text\nearth   easily\nstone   hardly\n```" + `

Other names: ` + "`delve`" + `.

## Examples

` + "```sh\n# A hole\nkubectl tool dig hole.yaml\n```" + `

## Flags

| Flag | Default | What it does |
|---|---|---|
| <a id="spade"></a>` + "`--spade string`" + ` | *required* | Which spade to use. |
| <a id="depth"></a>` + "`-d, --depth int` | `3`" + ` | How deep to dig, \<depth> \| more. |
| <a id="place"></a>` + "`--place name`" + ` | the garden | Where to dig. |

It takes [the flags of ` + "`kubectl tool`" + `](kubectl-tool.md#flags) too.
`,
	}
	if diff := cmp.Diff(want, b); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAHelpTextBecomesASentence(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                            "",
		"the node, or -":              "The node, or -.",
		"file with manifests":         "File with manifests.",
		"PromQL to ask":               "PromQL to ask.",
		"loadline-manager is here":    "loadline-manager is here.",
		"neutralMillis of each":       "neutralMillis of each.",
		"öffnet":                      "Öffnet.",
		"Defaults to 3.":              "Defaults to 3.",
		"see 'x --help' for examples": "See 'x --help' for examples.",
	} {
		if got := sentence(text); got != want {
			t.Errorf("sentence(%q) = %q, want %q", text, got, want)
		}
	}
}
