package command

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
)

// tool is a command with a command below it.
func tool() *cobra.Command {
	root := &cobra.Command{Use: "kubectl-tool", Short: "Be of use", Annotations: map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl tool"}}
	root.PersistentFlags().String("kubeconfig", "", "Path of a kubeconfig `file`.")
	sub := &cobra.Command{
		Use: "dig FILE", Short: "Dig", Long: "Digs a hole.\n", Aliases: []string{"delve"},
		Example: "\n  kubectl tool dig hole.yaml\n",
		Run:     func(*cobra.Command, []string) {},
	}
	sub.Flags().IntP("depth", "d", 3, "How deep to dig.")
	sub.Flags().Bool("fast", false, "Whether to hurry.")
	sub.Flags().String("spade", "", "Which spade to use.")
	if err := sub.MarkFlagRequired("spade"); err != nil {
		panic(err)
	}
	sub.Flags().Bool("secret", false, "")
	if err := sub.Flags().MarkHidden("secret"); err != nil {
		panic(err)
	}
	root.AddCommand(sub, &cobra.Command{Use: "worker", Hidden: true, Run: func(*cobra.Command, []string) {}})
	return root
}

func TestACommandIsDescribedAsItsHelpDoes(t *testing.T) {
	t.Parallel()
	var written bytes.Buffer
	if err := Write(&written, tool()); err != nil {
		t.Fatal(err)
	}
	got, err := Read(&written)
	if err != nil {
		t.Fatal(err)
	}
	kubeconfig := Flag{Name: "kubeconfig", Value: "file", Usage: "Path of a kubeconfig file."}
	want := Command{
		Path: "kubectl tool", Usage: "kubectl tool [flags]", Short: "Be of use", Flags: []Flag{kubeconfig},
		Commands: []Command{{
			Path: "kubectl tool dig", Usage: "kubectl tool dig FILE [flags]", Short: "Dig", Long: "Digs a hole.",
			Example: "  kubectl tool dig hole.yaml", Aliases: []string{"delve"},
			Flags: []Flag{
				{Name: "depth", Shorthand: "d", Value: "int", Default: "3", Usage: "How deep to dig."},
				{Name: "fast", Usage: "Whether to hurry."},
				{Name: "spade", Value: "string", Usage: "Which spade to use.", Required: true},
			},
			Inherited: []Flag{kubeconfig},
		}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestWhatDoesNotSayWhatItDoesIsNamed(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		spoil func(root, sub *cobra.Command)
		want  string
	}{
		"a flag": {
			func(_, sub *cobra.Command) { sub.Flags().Lookup("depth").Usage = "" },
			"kubectl tool dig --depth: the flag does not say what it does",
		},
		"a flag that others inherit": {
			func(root, _ *cobra.Command) { root.PersistentFlags().Lookup("kubeconfig").Usage = "" },
			"kubectl tool --kubeconfig: the flag does not say what it does",
		},
		"a command": {
			func(_, sub *cobra.Command) { sub.Short, sub.Long = "", "" },
			"kubectl tool dig: the command does not say what it does",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := tool()
			test.spoil(root, root.Commands()[0])
			err := Write(new(bytes.Buffer), root)
			if err == nil || !strings.HasPrefix(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v, want one error that begins with %q", err, test.want)
			}
		})
	}
}

func TestWhatIsNoDescriptionIsRefused(t *testing.T) {
	t.Parallel()
	if _, err := Read(strings.NewReader("Usage: tool")); err == nil || !strings.Contains(err.Error(), "description of a command") {
		t.Errorf("got %v", err)
	}
}
