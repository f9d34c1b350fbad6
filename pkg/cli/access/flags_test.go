package access

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"loadline.dev/loadline/pkg/cli/verb"
)

func TestTheFlagsSayWhichClusterIsAskedAndHow(t *testing.T) {
	t.Parallel()
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(kubeconfig, []byte(`apiVersion: v1
kind: Config
current-context: here
clusters: [{name: local, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: me, user: {token: secret}}]
contexts: [{name: here, context: {cluster: local, user: me, namespace: etl}}]
`), 0o600); err != nil {
		t.Fatal(err)
	}
	var c Flags
	command := &cobra.Command{Use: "test"}
	c.Add(command, "namespace")
	if err := command.ParseFlags([]string{
		"--kubeconfig", kubeconfig, "-s", "https://10.0.0.1:6443", "-n", "shop", "--as", "ann", "--as-group", "ops", "--as-uid", "7",
		"--as-user-extra", "scopes=view", "--as-user-extra", "scopes=edit", "--token", "other", "--request-timeout", "7s", "--insecure-skip-tls-verify", "--disable-compression",
	}); err != nil {
		t.Fatal(err)
	}
	for range 2 { // asking again changes nothing
		config, namespace, err := c.Config(verb.NewStream(io.Discard))
		if err != nil {
			t.Fatal(err)
		}
		who := config.Impersonate
		if config.Host != "https://10.0.0.1:6443" || namespace != "shop" || config.BearerToken != "other" || config.Timeout != 7*time.Second || !config.Insecure || !config.DisableCompression {
			t.Errorf("the configuration is %v of %s, timeout %v", config.Host, namespace, config.Timeout)
		}
		if who.UserName != "ann" || !slices.Equal(who.Groups, []string{"ops"}) || who.UID != "7" || !slices.Equal(who.Extra["scopes"], []string{"view", "edit"}) {
			t.Errorf("it impersonates %+v", who)
		}
		if !strings.HasSuffix(config.UserAgent, "/kubectl-loadline") {
			t.Errorf("the user agent is %s", config.UserAgent)
		}
		if AnswerWithin(config, time.Second); config.Timeout != 7*time.Second {
			t.Errorf("what is asked for does not count: %v", config.Timeout)
		}
	}
	c.userExtra = []string{"scopes"}
	if _, _, err := c.Config(verb.NewStream(io.Discard)); err == nil || err.Error() != "--as-user-extra scopes: write NAME=VALUE, such as scopes=view" {
		t.Errorf("the error is %v", err)
	}
}

func TestTheHelpShowsTheFlagsThatAreOftenNeeded(t *testing.T) {
	t.Parallel()
	var c Flags
	command := &cobra.Command{Use: "test"}
	c.Add(command, "namespace of the pods")
	var shown []string
	command.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			shown = append(shown, f.Name)
		}
	})
	if want := []string{"context", "kubeconfig", "namespace"}; !slices.Equal(shown, want) {
		t.Errorf("the help shows %v, want %v", shown, want)
	}
}
