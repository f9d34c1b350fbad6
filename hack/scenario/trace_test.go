package scenario_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadline.dev/loadline/hack/scenario"
)

// openb returns the trace of a real cluster: its first 2,000 pods.
func openb(t *testing.T) *scenario.Trace {
	t.Helper()
	folder := filepath.Join("..", "..", "test", "testdata", "openb")
	open := func(name string) *os.File {
		f, err := os.Open(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		})
		return f
	}
	trace, err := scenario.ReadOpenb("pods", open("openb_pod_list_first_2000.csv"), "nodes", open("openb_node_list_all_node.csv"))
	if err != nil {
		t.Fatal(err)
	}
	return trace
}

func TestAScenarioOfATrace(t *testing.T) {
	t.Parallel()
	o := options()
	o.Trace = openb(t)
	s := newScenario(t, o)
	if diff := cmp.Diff(s.Pods, newScenario(t, o).Pods); diff != "" {
		t.Errorf("twice the same seed: %s", diff)
	}
	if len(s.Nodes) != o.Nodes || len(s.NodeProfiles()) < 5 {
		t.Errorf("%d nodes, want %d, of %d sizes", len(s.Nodes), o.Nodes, len(s.NodeProfiles()))
	}
	for step := range o.Steps + 1 {
		requested, largest := 0.0, 0.0
		for _, i := range s.Present(step) {
			cores := float64(s.Pods[i].Application.MilliCPU) / 1000
			requested, largest = requested+cores, max(largest, cores)
		}
		if want := o.Requested * float64(s.Cores()); requested < want || requested > want+16 || largest > 16 {
			t.Errorf("step %d: %v cores are requested of %v, and %v by one pod", step, requested, want, largest)
		}
	}
	if going := len(s.Going(1)); going < len(s.Present(0))/2 {
		t.Errorf("%d of %d pods leave in the first hour, where half of those of the trace take less than a quarter of that", going, len(s.Present(0)))
	}
	for _, a := range s.Applications {
		cpu := a.Vector[scenario.CPU]
		used := cpu.Loading * float64(cpu.Threads) * 1000 / float64(a.MilliCPU)
		if !(used > 0.01 && used < 20) {
			t.Errorf("%s uses %v times what it requests, in %d threads", a.Name, used, cpu.Threads)
		}
		if err := a.Vector.Validate(); err != nil {
			t.Errorf("%s: %v", a.Name, err)
		}
	}
}

func TestATraceWithoutWhatIsNeededIsAnError(t *testing.T) {
	t.Parallel()
	const podHeader = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n"
	const nodeHeader = "sn,cpu_milli,memory_mib,gpu,model\n"
	const pod, node = "a,4000,1024,0,0,,LS,Running,0,10,0\n", "n,32000,262144,0,\n"
	for name, test := range map[string]struct{ pods, nodes, want string }{
		"enough":         {podHeader + pod, nodeHeader + node, ""},
		"no file":        {"", nodeHeader + node, "pods.csv"},
		"large pods":     {podHeader + strings.Replace(pod, "4000", "16001", 1), nodeHeader + node, "want pods that request CPU"},
		"pods of no CPU": {podHeader + strings.Replace(pod, "4000", "0", 1), nodeHeader + node, "want pods that request CPU"},
		"small nodes":    {podHeader + pod, nodeHeader + strings.Replace(node, "32000", "7999", 1), "nodes of at least 8 cores"},
		"no nodes":       {podHeader + pod, nodeHeader, "nodes.csv"},
		"a bad line":     {podHeader + "a,x,1024,0,0,,LS,Running,0,10,0\n", nodeHeader + node, "pods.csv, line 2"},
	} {
		_, err := scenario.ReadOpenb("pods.csv", strings.NewReader(test.pods), "nodes.csv", strings.NewReader(test.nodes))
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}
