package node_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadline.dev/loadline/hack/cluster/node"
)

func TestThePluginsLayTheNetworkOfTheNodesPods(t *testing.T) {
	t.Parallel()
	type plugin struct {
		Type   string
		IPMasq bool
		IPAM   struct{ Ranges [][]struct{ Subnet string } }
	}
	for name, inside := range map[string]bool{"with routes to its pods": false, "inside of a cluster": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, err := node.Network{Pods: "10.244.1.0/24", Inside: inside}.Config()
			if err != nil {
				t.Fatal(err)
			}
			var config struct{ Plugins []plugin }
			if err := json.Unmarshal(text, &config); err != nil {
				t.Fatalf("%v:\n%s", err, text)
			}
			want := []string{"ptp"}
			if inside {
				want = append(want, "portmap")
			}
			var types []string
			for _, one := range config.Plugins {
				types = append(types, one.Type)
			}
			if diff := cmp.Diff(want, types); diff != "" {
				t.Error(diff)
			}
			if first := config.Plugins[0]; first.IPMasq != inside || first.IPAM.Ranges[0][0].Subnet != "10.244.1.0/24" {
				t.Errorf("got %s", text)
			}
		})
	}
}
