package who_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/pkg/cli/clitest"
	"loadline.dev/loadline/pkg/evaluate/findings"
	"loadline.dev/loadline/pkg/gauge/usage"
)

// reading is a pod in an interval of ten seconds that hardly runs, and is blocked otherwise, by reads of 4 KiB at the disk vda.
func reading(name, by string, operations int64) usage.Pod {
	p := observed(name, 0.02, 0, 0)
	p.DiskLoading, p.Blocked, p.BlockedBy = 0.98, 9.8, by
	p.Disks = []usage.PodDisk{{Name: "vda", ReadOperations: operations, ReadBytes: 4096 * operations}}
	return p
}

// diskCluster is a node where a shop reads beside a backup, each all the time, from a disk of which a read takes a millisecond; known says
// whether the gauge has learned that.
func diskCluster(by string, known bool) (objects []client.Object, reports []usage.Report) {
	objects = []client.Object{
		observedNode("worker-1", "2"), observedPod("shop", "cart", "worker-1", "100m", ""), observedPod("ops", "backup", "worker-1", "100m", ""),
	}
	report := reportOf("worker-1", 2, 0, reading("cart", by, 2450), reading("backup", by, 7350))
	disk := usage.Disk{
		Name: "vda", Number: "254:0", Reads: usage.Transfers{Operations: 9800, Bytes: 9800 * 4096, Seconds: 39.2}, BusySeconds: 9.8, QueuedSeconds: 39.2,
	}
	if known {
		disk.Service = []usage.DiskService{{Direction: usage.Read, Bytes: 4096, Seconds: 1e-3, Intervals: 31}}
	}
	for i := range report.Intervals {
		report.Intervals[i].Disks = []usage.Disk{disk}
	}
	return objects, []usage.Report{report}
}

func TestWhoNamesTheDiskAndTheNeighbourThere(t *testing.T) {
	t.Parallel()
	objects, reports := diskCluster(usage.ByPressure, true)
	files := clusterFiles(t, objects, reports)
	code, stdout, stderr := clitest.Run(t, "", append([]string{"who"}, files...)...)
	if code != 0 || stderr != "" {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	const want = `DILATION VICTIM SINCE BECAUSE OF AT REMEDY THEN
3.74 ± 0.00× shop/cart > 2m ops/backup at disk vda +2.74 disk by hand: io.max for ops/backup, or another disk or node -
1.32 ± 0.00× ops/backup > 2m shop/cart at disk vda +0.32 disk by hand: io.max for shop/cart, or another disk or node -
Slowed down 1.20× or more: 2 of 2 observed pods.
`
	if diff := cmp.Diff(want, clitest.Squeezed(stdout)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	var answer findings.Answer
	code, stdout, stderr = clitest.Run(t, "", append([]string{"who", "-o", "json"}, files...)...)
	if err := json.Unmarshal([]byte(stdout), &answer); code != 0 || err != nil || !strings.Contains(stdout, `"resource": "disk",
          "device": "vda",`) {
		t.Errorf("exit code %d, %v: %s\n%s", code, err, stderr, stdout)
	}
}

func TestThePageNamesTheDiskAndWhatMayHelp(t *testing.T) {
	t.Parallel()
	objects, reports := diskCluster(usage.ByTasks, true)
	path := filepath.Join(t.TempDir(), "who.html")
	if code, _, stderr := clitest.Run(t, "", append([]string{"who", "--report", path}, clusterFiles(t, objects, reports)...)...); code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"ops/backup at disk vda ", "By hand: io.max for ops/backup, or another disk or node"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page has no %q", want)
		}
	}
}

func TestTopSaysHowBlockedTimeIsKnown(t *testing.T) {
	t.Parallel()
	const pressed = "BLOCKED is by io.pressure on 1 node (worker-1), where threads that are blocked at once count as one: kernel.task_delayacct is 0 there, or counts more time than there was."
	for by, note := range map[string]string{usage.ByPressure: pressed, usage.ByTasks: ""} {
		objects, reports := diskCluster(by, true)
		code, stdout, stderr := clitest.Run(t, "", append([]string{"top", "pods"}, clusterFiles(t, objects, reports)...)...)
		if code != 0 || strings.Contains(stdout, "BLOCKED is") != (note != "") || !strings.Contains(stdout, note) {
			t.Errorf("blocked by %q: exit code %d: %s\n%s", by, code, stderr, stdout)
		}
	}
}

func TestTopNamesDisksThatWereNotQuietYet(t *testing.T) {
	t.Parallel()
	for want, of := range map[string]struct {
		known    bool
		inFlight float64
	}{
		"":                                    {true, 0},
		"waiting at vda is longer than said":  {true, 1.5},
		"waiting at vda counts as time alone": {false, 0},
	} {
		objects, reports := diskCluster(usage.ByTasks, of.known)
		for i := range reports[0].Intervals {
			for k := range reports[0].Intervals[i].Disks[0].Service {
				reports[0].Intervals[i].Disks[0].Service[k].InFlight = of.inFlight
			}
		}
		code, stdout, stderr := clitest.Run(t, "", append([]string{"top", "nodes"}, clusterFiles(t, objects, reports)...)...)
		if code != 0 || strings.Contains(stdout, "waiting at vda") != (want != "") || !strings.Contains(stdout, want) {
			t.Errorf("%+v: exit code %d: %s\n%s", of, code, stderr, stdout)
		}
	}
}
