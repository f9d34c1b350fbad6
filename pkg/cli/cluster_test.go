package cli

import (
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// kubectlOptions are what kubectl options lists of flags that lead to a cluster.
var kubectlOptions = []string{
	"as", "as-group", "as-uid", "as-user-extra", "certificate-authority", "client-certificate", "client-key", "cluster", "context", "disable-compression",
	"insecure-skip-tls-verify", "kubeconfig", "namespace", "request-timeout", "server", "tls-server-name", "token", "user",
}

func TestEveryVerbThatAsksAClusterTakesTheFlagsOfKubectl(t *testing.T) {
	t.Parallel()
	asking := []string{}
	for _, verb := range newRoot("v1", Streams{}).Commands() {
		if verb.Flags().Lookup("kubeconfig") == nil {
			continue
		}
		asking = append(asking, verb.Name())
		for _, name := range kubectlOptions {
			if verb.Flags().Lookup(name) == nil {
				t.Errorf("%s takes no --%s", verb.Name(), name)
			}
		}
		for short, name := range map[string]string{"n": "namespace", "s": "server"} {
			if f := verb.Flags().ShorthandLookup(short); f == nil || f.Name != name {
				t.Errorf("%s: -%s is %v", verb.Name(), short, f)
			}
		}
	}
	if want := []string{"check", "explain", "record", "share", "status", "version"}; !slices.Equal(asking, want) {
		t.Errorf("the verbs that ask a cluster are %v, want %v", asking, want)
	}
}

func TestTheFlagsSayWhichClusterIsAskedAndHow(t *testing.T) {
	t.Parallel()
	kubeconfig := newAPIServer(t).kubeconfig(t)
	var c clusterFlags
	command := &cobra.Command{Use: "test"}
	c.add(command, "namespace")
	if err := command.ParseFlags([]string{
		"--kubeconfig", kubeconfig, "-s", "https://10.0.0.1:6443", "-n", "shop", "--as", "ann", "--as-group", "ops", "--as-uid", "7",
		"--as-user-extra", "scopes=view", "--as-user-extra", "scopes=edit", "--token", "other", "--request-timeout", "7s", "--insecure-skip-tls-verify", "--disable-compression",
	}); err != nil {
		t.Fatal(err)
	}
	for range 2 { // asking again changes nothing
		config, namespace, err := c.config(io.Discard)
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
		if answersWithin(config, time.Second); config.Timeout != 7*time.Second {
			t.Errorf("what is asked for does not count: %v", config.Timeout)
		}
	}
	c.userExtra = []string{"scopes"}
	if _, _, err := c.config(io.Discard); err == nil || err.Error() != "--as-user-extra scopes: write NAME=VALUE, such as scopes=view" {
		t.Errorf("the error is %v", err)
	}
}

func TestTheHelpShowsTheFlagsThatAreOftenNeeded(t *testing.T) {
	t.Parallel()
	var c clusterFlags
	command := &cobra.Command{Use: "test"}
	c.add(command, "namespace of the pods")
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
