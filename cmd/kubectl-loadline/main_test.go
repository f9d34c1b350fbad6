package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// asCommand makes the test binary the command itself.
const asCommand = "KUBECTL_LOADLINE_TEST_AS_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		main()
	}
	os.Exit(m.Run())
}

// Called by the name that kubectl looks for, the command completes arguments.
func TestTheCommandCompletesItselfForKubectl(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	link := filepath.Join(dir, completer)
	self, err := os.Executable()
	if err == nil {
		err = os.Symlink(self, link)
	}
	if err != nil {
		t.Fatal(err)
	}
	complete := exec.CommandContext(t.Context(), link, "predict", "--solver", "")
	complete.Env = append(os.Environ(), asCommand+"=1", "PATH="+dir)
	out, err := complete.Output()
	if want := "auto\nexact\nlinearizer\nschweitzer\nfirst-order\n:4\n"; err != nil || string(out) != want {
		t.Errorf("%v: %q, want %q", err, out, want)
	}
}

const manifest = `apiVersion: loadline.dev/v1alpha1
kind: WorkloadProfile
metadata: {name: sort}
spec: {selector: {}, resources: [{name: cpu, loading: "1"}], neutralMillis: 1000}
`

func TestSignalsEndAReplayThatKeepsWhatItDid(t *testing.T) {
	t.Parallel()
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			var out, errs bytes.Buffer
			replay := exec.CommandContext(t.Context(), os.Args[0],
				"replay", "-f", "-", "--generate", "10000000", "--every", "2s", "--policies", "lmuf", "--jobs-to", dir)
			replay.Env = append(os.Environ(), asCommand+"=1")
			replay.Stdin, replay.Stdout, replay.Stderr = bytes.NewBufferString(manifest), &out, &errs
			if err := replay.Start(); err != nil {
				t.Fatal(err)
			}
			begun := wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
				info, err := os.Stat(filepath.Join(dir, "lmuf-1.partial.csv"))
				return err == nil && info.Size() > 0, nil
			})
			if begun != nil {
				t.Error(begun)
			}
			if err := replay.Process.Signal(signal); err != nil {
				t.Error(err)
			}
			err := replay.Wait()
			if code := replay.ProcessState.ExitCode(); code != 130 || errs.String() != "Interrupted: kept what was done in 1 of 1 runs\n" {
				t.Errorf("exit code %d (%v), errors %q", code, err, errs.String())
			}
			if !bytes.Contains(out.Bytes(), []byte("lmuf (partial)")) {
				t.Errorf("the output is\n%s", out.String())
			}
		})
	}
}
