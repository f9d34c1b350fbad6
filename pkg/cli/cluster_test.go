package cli_test

import (
	"slices"
	"testing"

	"loadline.dev/loadline/pkg/cli"
)

// kubectlOptions are what kubectl options lists of flags that lead to a cluster.
var kubectlOptions = []string{
	"as", "as-group", "as-uid", "as-user-extra", "certificate-authority", "client-certificate", "client-key", "cluster", "context", "disable-compression",
	"insecure-skip-tls-verify", "kubeconfig", "namespace", "request-timeout", "server", "tls-server-name", "token", "user",
}

func TestEveryVerbThatAsksAClusterTakesTheFlagsOfKubectl(t *testing.T) {
	t.Parallel()
	asking := []string{}
	for _, verb := range withAllBelow(cli.NewRoot("v1", cli.Streams{})) {
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
	if want := []string{"check", "explain", "plan", "suggest", "record", "share", "status", "nodes", "pods", "ui", "version", "who"}; !slices.Equal(asking, want) {
		t.Errorf("the verbs that ask a cluster are %v, want %v", asking, want)
	}
}
