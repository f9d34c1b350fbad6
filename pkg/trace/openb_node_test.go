package trace

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTheRealNodesAreAllRead(t *testing.T) {
	t.Parallel()
	nodes, err := readNodes(string(testdata(t, "openb_node_list_all_node.csv")))
	if err != nil {
		t.Fatal(err)
	}
	if len(nodes) != 1523 {
		t.Errorf("got %d nodes, want 1523", len(nodes))
	}
	want := OpenbNode{Name: "openb-node-1522", CPUMilli: 96000, MemoryMiB: 393216, GPUs: 8, Model: "G2"}
	if diff := cmp.Diff(want, nodes[len(nodes)-1]); diff != "" {
		t.Errorf("the last node differs (-want +got):\n%s", diff)
	}
}

func TestABadNodeIsReportedWithItsPlaceAndTheRule(t *testing.T) {
	t.Parallel()
	const header = "sn,cpu_milli,memory_mib,gpu,model\n"
	for name, c := range map[string]struct{ csv, want string }{
		"a name twice":      {header + "n,1,1,0,\nn,2,1,0,\n", `nodes.csv, line 3: sn "n": is already the name on line 2`},
		"no name":           {header + ",1,1,0,\n", `nodes.csv, line 2: sn "": must not be empty`},
		"a fraction":        {header + "n,1,1,0.5,\n", `nodes.csv, line 2: gpu "0.5": must be a whole number from 0 to 1,000,000`},
		"the pods' columns": {podHeader, `nodes.csv, line 1: the header lacks the columns sn, gpu, model; it must have sn, cpu_milli, memory_mib, gpu, model`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := readNodes(c.csv); err == nil || err.Error() != c.want {
				t.Errorf("error = %v\nwant    %s", err, c.want)
			}
		})
	}
}
