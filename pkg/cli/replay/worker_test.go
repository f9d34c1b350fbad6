package replay_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"loadline.dev/loadline/pkg/cli"
	"loadline.dev/loadline/pkg/cli/clitest"
	"loadline.dev/loadline/pkg/evaluate/replays"
)

// workerArgs are those that a pod is given, and where its result goes.
func workerArgs(t *testing.T, runs, index string) (args []string, result string) {
	t.Helper()
	result = filepath.Join(t.TempDir(), "termination-log")
	return []string{"replay", "--filename", "-", "--worker-runs", clitest.WriteFile(t, "runs", runs), "--worker-index", index, "--worker-result", result}, result
}

func TestAWorkerWritesTheResultOfItsRun(t *testing.T) {
	t.Parallel()
	args, path := workerArgs(t, "7\n2\n11\n", "2")
	dir := t.TempDir()
	code, stdout, stderr := clitest.Run(t, replayManifest, append(args, "--jobs-to", dir)...)
	if code != 0 || stdout+stderr != "" {
		t.Fatalf("exit code %d, output %q, errors %q", code, stdout, stderr)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got, err := replays.DecodeResult(string(text))
	if err != nil {
		t.Fatal(err)
	}
	// Run 11 is the last: the third policy with the fourth seed.
	want := answerOf(t, replayManifest, "-f", "-").Policies[2].Runs[3]
	if got.Policy != "least-dilation" || got.Seed != 4 || got.MakespanSeconds != want.MakespanSeconds || got.Response != want.Response {
		t.Errorf("the result is %+v, want %+v", got, want)
	}
	if files := names(t, dir); len(files) != 1 || files[0] != "least-dilation-4.csv" {
		t.Errorf("the files are %v", files)
	}
}

// Only a run that went well leaves a result, and the exit code says whether it is
// any use to try again.
func TestAWorkerThatFailsLeavesNoResult(t *testing.T) {
	t.Parallel()
	bad := strings.Replace(replayManifest, "count: 3", "count: 0", 1)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, test := range map[string]struct {
		ctx             context.Context //nolint:containedctx // of one call
		manifest        string
		runs, index, to string
		code            int
		want            string
	}{
		"interrupted":            {cancelled, replayManifest, "0\n", "0", "", 130, "Interrupted: "},
		"bad input":              {t.Context(), bad, "0\n", "0", "", 2, "Error: spec.nodes[0].count"},
		"no such line":           {t.Context(), replayManifest, "0\n", "1", "", 2, "Error: --worker-index: 1: the file runs has no such line"},
		"no such run":            {t.Context(), replayManifest, "0\n12\n", "1", "", 2, `Error: --worker-runs: line 2: "12" is not the number of a run, from 0 to 11`},
		"a result without space": {t.Context(), replayManifest, "0\n", "0", "/dev/full", 3, "no space left on device"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args, result := workerArgs(t, test.runs, test.index)
			if test.to != "" {
				clitest.FullDisk(t)
				args[len(args)-1] = test.to
			}
			var out, errs bytes.Buffer
			code := cli.Run(test.ctx, "v1", args, cli.Streams{In: strings.NewReader(test.manifest), Out: &out, Err: &errs})
			if code != test.code || !strings.Contains(errs.String(), test.want) {
				t.Errorf("exit code %d, errors %q, want %d and %q", code, errs.String(), test.code, test.want)
			}
			if _, err := os.Stat(result); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("there is a result: %v", err)
			}
		})
	}
}

func TestAnInterruptedWorkerLeavesAPartialFileAndNoResult(t *testing.T) {
	t.Parallel()
	args, result := workerArgs(t, "0\n", "0")
	manifest := strings.Replace(replayManifest, "jobs: 300", "jobs: 10000000", 1)
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	begun := interruptWhen(ctx, cancel, filepath.Join(dir, "round-robin-1.partial.csv"))
	var out, errs bytes.Buffer
	code := cli.Run(ctx, "v1", append(args, "--jobs-to", dir), cli.Streams{In: strings.NewReader(manifest), Out: &out, Err: &errs})
	if err := <-begun; err != nil {
		t.Fatal(err)
	}
	if code != 130 || errs.String() != "Interrupted: kept nothing\n" {
		t.Errorf("exit code %d, errors %q", code, errs.String())
	}
	if _, err := os.Stat(result); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("there is a result: %v", err)
	}
	if got := names(t, dir); len(got) != 1 || got[0] != "round-robin-1.partial.csv" {
		t.Errorf("the files are %v", got)
	}
}
