package trace

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const podHeader = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n"

const csvHeader = Version + "\njob,type,arrival,neutral,demand.cpu,threads.cpu,demand.disk,request.cpu,request.memory,start,end,node\n"

// testdata reads a file of the real openb trace.
func testdata(tb testing.TB, name string) []byte {
	tb.Helper()
	return traceFile(tb, "openb", name)
}

func traceFile(tb testing.TB, folder, name string) []byte {
	tb.Helper()
	content, err := os.ReadFile(filepath.Join("..", "..", "test", "testdata", folder, name))
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

// openbPods reads the rows of a pod list, from which [openbJobs] makes jobs.
func openbPods(in io.Reader) iter.Seq2[openbPod, error] {
	open := func() (rowReader, error) { return openTable("pods.csv", in, openbPodColumns) }
	return readRows(open, func(r *row) (openbPod, bool) { return readOpenbPod(r), true })
}

// readPods reads until the first error and returns what came before it.
func readPods(csv string) ([]openbPod, error) {
	var pods []openbPod
	for pod, err := range openbPods(strings.NewReader(csv)) {
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

// readJobs reads until the first error and returns what came before it.
func readJobs(text string, options Options) ([]Job, error) {
	var jobs []Job
	for job, err := range Jobs("trace", strings.NewReader(text), options) {
		if err != nil {
			return jobs, err
		}
		jobs = append(jobs, job)
	}
	return jobs, nil
}

// badTrace is a text that must be refused, with the whole message.
type badTrace struct{ text, want string }

func refuse(t *testing.T, format Format, cases map[string]badTrace) {
	t.Helper()
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := readJobs(c.text, Options{Format: format})
			if err == nil {
				t.Fatal("the trace was accepted")
			}
			if diff := cmp.Diff(c.want, err.Error()); diff != "" {
				t.Errorf("error differs (-want +got):\n%s", diff)
			}
		})
	}
}

// skips collects what a reader leaves out.
type skips []string

func (s *skips) add(line int, name, reason string) {
	*s = append(*s, fmt.Sprintf("line %d: %s %s", line, name, reason))
}
