package trace

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const podHeader = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n"

// testdata reads a file of the real openb trace.
func testdata(tb testing.TB, name string) []byte {
	tb.Helper()
	content, err := os.ReadFile(filepath.Join("..", "..", "test", "testdata", "openb", name))
	if err != nil {
		tb.Fatal(err)
	}
	return content
}

func gzipped(tb testing.TB, content []byte) []byte {
	tb.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(content); err != nil {
		tb.Fatal(err)
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// readPods reads until the first error and returns what came before it.
func readPods(csv string, options OpenbPodOptions) ([]OpenbPod, error) {
	var pods []OpenbPod
	for pod, err := range OpenbPods("pods.csv", strings.NewReader(csv), options) {
		if err != nil {
			return pods, err
		}
		pods = append(pods, pod)
	}
	return pods, nil
}

func readNodes(csv string) ([]OpenbNode, error) {
	var nodes []OpenbNode
	for node, err := range OpenbNodes("nodes.csv", strings.NewReader(csv)) {
		if err != nil {
			return nodes, err
		}
		nodes = append(nodes, node)
	}
	return nodes, nil
}
