package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"loadline.dev/loadline/hack/cluster/internal/proctest"
)

// program is the path of the built program.
var program string

func TestMain(m *testing.M) {
	os.Exit(buildAndTest(m))
}

// buildAndTest builds the program, runs the tests and returns the exit code.
func buildAndTest(m *testing.M) (code int) {
	dir, err := os.MkdirTemp("", "loadline-cluster-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return exitFailed
	}
	defer func() {
		if err := os.RemoveAll(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = exitFailed
		}
	}()
	program = filepath.Join(dir, "cluster")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, out)
		return exitFailed
	}
	return m.Run()
}

func TestUpServesUntilDown(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	server := up(t, dir, "--nodes", "2")

	path, _, code := call(t, "kubeconfig", "--dir", dir)
	if code != exitDone {
		t.Fatalf("kubeconfig: exit code %d", code)
	}
	config, err := clientcmd.BuildConfigFromFlags("", strings.TrimSpace(path))
	if err != nil {
		t.Fatal(err)
	}
	nodes, err := kubernetes.NewForConfigOrDie(config).CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(nodes.Items) != 2 {
		t.Errorf("%d nodes, want 2", len(nodes.Items))
	}
	if _, stderr, code := call(t, "up", "--dir", dir); code != exitFailed || !strings.Contains(stderr, "already runs in "+dir) {
		t.Errorf("a second up: exit code %d and %q, want %d and that one already runs", code, stderr, exitFailed)
	}

	if _, stderr, code := call(t, "down", "--dir", dir); code != exitDone {
		t.Errorf("down: exit code %d: %s", code, stderr)
	}
	if parts := proctest.Mentioning(t, dir); len(parts) != 0 {
		t.Errorf("running after down: %v", parts)
	}
	if code := exitCode(t, server); code != exitDone {
		t.Errorf("up: exit code %d, want %d", code, exitDone)
	}
}

func TestDownWithNothingRunningIsDone(t *testing.T) {
	t.Parallel()
	if _, stderr, code := call(t, "down", "--dir", t.TempDir()); code != exitDone || !strings.Contains(stderr, "no control plane is running") {
		t.Errorf("exit code %d and %q, want %d and that nothing runs", code, stderr, exitDone)
	}
}

func TestKubeconfigWithNothingRunningFails(t *testing.T) {
	t.Parallel()
	if stdout, stderr, code := call(t, "kubeconfig", "--dir", t.TempDir()); code != exitFailed || stdout != "" || stderr == "" {
		t.Errorf("exit code %d, stdout %q, stderr %q", code, stdout, stderr)
	}
}

func TestCtrlCStopsEverything(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	server := up(t, dir)
	if err := server.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if code := exitCode(t, server); code != exitDone {
		t.Errorf("up: exit code %d, want %d", code, exitDone)
	}
	if parts := proctest.Mentioning(t, dir); len(parts) != 0 {
		t.Errorf("still running: %v", parts)
	}
}

func TestKillingTheProgramLeavesNoPartAndNoClaimOnTheFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	server := up(t, dir)
	if err := server.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	exitCode(t, server)
	proctest.AwaitNone(t, dir)
	if _, stderr, code := call(t, "down", "--dir", dir); code != exitDone {
		t.Errorf("down: exit code %d: %s", code, stderr)
	}
}

func TestACrashEndsUpWithTheReason(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	server := up(t, dir)
	if err := syscall.Kill(proctest.Mentioning(t, dir)["etcd"], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if code := exitCode(t, server); code != exitFailed {
		t.Errorf("exit code %d, want %d", code, exitFailed)
	}
	if stderr := fmt.Sprint(server.Stderr); !strings.Contains(stderr, "Error: etcd ended by itself (signal: killed)") {
		t.Errorf("standard error does not say why:\n%s", stderr)
	}
}

func TestRunLastsAsLongAsItsCommand(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	stdout, stderr, code := call(t, "run", "--dir", dir, "sh", "-c", "cat $KUBECONFIG; exit 3")
	if code != exitFailed || !strings.Contains(stderr, "Error: sh: exit status 3") {
		t.Errorf("exit code %d, want %d and the command's on standard error:\n%s", code, exitFailed, stderr)
	}
	if !strings.Contains(stdout, "server: https://") {
		t.Errorf("the command did not find a kubeconfig file: %q", stdout)
	}
	if parts := proctest.Mentioning(t, dir); len(parts) != 0 {
		t.Errorf("still running: %v", parts)
	}
}

func TestWrongUseIsExplained(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		args []string
		want string
	}{
		"two verbs":         {[]string{"up", "down"}, `unknown command "down" for "cluster up"`},
		"an unknown verb":   {[]string{"start"}, `unknown command "start" for "cluster"`},
		"an unknown flag":   {[]string{"up", "--node", "3"}, "unknown flag: --node"},
		"one before a verb": {[]string{"--node", "3", "up"}, "unknown flag: --node"},
		"a negative number": {[]string{"up", "--nodes", "-3"}, "--nodes: -3 is negative"},
		"a long folder":     {[]string{"run", "--real-nodes", "1", "--dir", strings.Repeat("d", 100), "true"}, "is 6 characters too long for a socket in it"},
		"no command":        {[]string{"run", "--nodes", "1"}, "run what?"},
		"no program":        {[]string{"load"}, "load what?"},
		"no folder":         {[]string{"image", "bin/probe"}, "image takes a folder and static programs"},
		"no file":           {[]string{"sbom", "bin/probe"}, "sbom takes a program and a file to write"},
		"no node":           {[]string{"node", "stop"}, "accepts 1 arg(s), received 0"},
		"no such verb":      {[]string{"node", "restart", "worker-1"}, `unknown command "restart" for "cluster node"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var stdout, stderr bytes.Buffer
			if code := run(t.Context(), test.args, &stdout, &stderr); code != exitWrongUse {
				t.Errorf("exit code %d, want %d", code, exitWrongUse)
			}
			if !strings.Contains(stderr.String(), test.want) || !strings.Contains(stderr.String(), "--help") {
				t.Errorf("standard error is %q, want %q and a hint at --help", stderr.String(), test.want)
			}
		})
	}
}

func TestHelpOfEachVerbShowsAnExample(t *testing.T) {
	t.Parallel()
	for _, verb := range newRoot().Commands() {
		t.Run(verb.Name(), func(t *testing.T) {
			t.Parallel()
			var stdout bytes.Buffer
			if code := run(t.Context(), []string{"help", verb.Name()}, &stdout, io.Discard); code != exitDone {
				t.Errorf("exit code %d, want %d", code, exitDone)
			}
			if !strings.Contains(stdout.String(), "Examples:\n  ") && !verb.HasSubCommands() {
				t.Errorf("the help has no example:\n%s", stdout.String())
			}
		})
	}
}

func TestWhatFollowsACommandIsItsOwn(t *testing.T) {
	t.Parallel()
	root := newRoot()
	for _, test := range []struct{ line, want string }{
		{"run --nodes 1 sh --nodes 2 -c true", "sh --nodes 2 -c true"},
		{"--dir d docker sh --dir e", "sh --dir e"},
		{"--kubeconfig f kubectl --namespace n get pods --help", "--namespace n get pods --help"},
	} {
		verb, args, err := root.Traverse(strings.Fields(test.line))
		if err == nil && !verb.DisableFlagParsing {
			err = verb.ParseFlags(args)
			args = verb.Flags().Args()
		}
		if got := strings.Join(args, " "); err != nil || got != test.want {
			t.Errorf("%s: the command is %q, %v, want %q", test.line, got, err, test.want)
		}
	}
}

// up starts "cluster up" in dir and returns when it says that it is ready. Its standard error is a *bytes.Buffer.
func up(t *testing.T, dir string, args ...string) *exec.Cmd {
	t.Helper()

	server := exec.Command(program, append([]string{"up", "--dir", dir}, args...)...)
	var stderr bytes.Buffer
	server.Stderr = &stderr
	stdout, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if server.ProcessState != nil {
			return
		}
		if err := server.Process.Kill(); err != nil {
			t.Error(err)
		}
		exitCode(t, server)
	})
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		if strings.Contains(lines.Text(), "Ctrl-C") { // the last line
			return server
		}
	}
	t.Fatalf("up ended with exit code %d before it was ready:\n%s", exitCode(t, server), stderr.String())
	return nil
}

// exitCode waits for the end of a program and returns its exit code, or -1 when a signal ended it.
func exitCode(t *testing.T, cmd *exec.Cmd) int {
	t.Helper()
	var failed *exec.ExitError
	if err := cmd.Wait(); err != nil && !errors.As(err, &failed) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode()
}

// call runs the program and returns what it prints and its exit code.
func call(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errOut bytes.Buffer
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), program, args...) // also when the test is being cleaned up
	cmd.Stdout, cmd.Stderr = &out, &errOut
	if err := cmd.Run(); cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return out.String(), errOut.String(), cmd.ProcessState.ExitCode()
}
