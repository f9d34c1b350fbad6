package recording

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"loadline.dev/loadline/pkg/record"
)

func newSpool(t *testing.T) *spool {
	t.Helper()
	s, err := openSpool(filepath.Join(t.TempDir(), "trace.csv.spool"), spoolHeader{Namespace: "etl"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// spooled returns the pods of a spool as name:phase.
func spooled(t *testing.T, s *spool) string {
	t.Helper()
	var pods []string
	if err := s.each(func(pod *corev1.Pod) { pods = append(pods, pod.Name+":"+string(pod.Status.Phase)) }); err != nil {
		t.Fatal(err)
	}
	return strings.Join(pods, " ")
}

func TestALedgerSpoolsEachPodThatIsOverOnce(t *testing.T) {
	t.Parallel()
	const running, succeeded = corev1.PodRunning, corev1.PodSucceeded
	// step is one event of a watch; live are the pods that exist after it.
	type step struct {
		tell func(*ledger) error
		want string
		live int
	}
	replace := func(pods ...any) func(*ledger) error { return func(l *ledger) error { return l.Replace(pods, "1") } }
	add := func(pod *corev1.Pod) func(*ledger) error { return func(l *ledger) error { return l.Add(pod) } }
	update := func(pod *corev1.Pod) func(*ledger) error { return func(l *ledger) error { return l.Update(pod) } }
	remove := func(pod *corev1.Pod) func(*ledger) error { return func(l *ledger) error { return l.Delete(pod) } }
	for name, steps := range map[string][]step{
		"when it finishes, not when it goes after that": {
			{add(aPod("a", 0, running)), "", 1},
			{update(aPod("a", 0, succeeded)), "a:Succeeded", 0},
			{update(aPod("a", 0, succeeded)), "a:Succeeded", 0},
			{remove(aPod("a", 0, succeeded)), "a:Succeeded", 0},
		},
		"when it is deleted while it runs, as one that failed": {
			{add(aPod("a", 0, running)), "", 1},
			{remove(aPod("a", 0, running)), "a:Failed", 0},
		},
		"when it is there at the start": {
			{replace(aPod("a", 0, succeeded), aPod("b", 0, running)), "a:Succeeded", 1},
		},
		"when it finished while the server was away": {
			{replace(aPod("a", 0, running)), "", 1},
			{replace(aPod("a", 0, succeeded)), "a:Succeeded", 0},
		},
		"when it went while the server was away": {
			{replace(aPod("a", 0, running), aPod("b", 0, running)), "", 2},
			{replace(aPod("b", 0, running)), "a:Failed", 1},
		},
		"but twice if there was another one of its name": {
			{add(aPod("a", 0, succeeded)), "a:Succeeded", 0},
			{add(renamed(aPod("b", 5, succeeded), "a")), "a:Succeeded a:Succeeded", 0},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSpool(t)
			l := newLedger(s, func(int, int) {})
			for i, step := range steps {
				if err := errors.Join(step.tell(l), l.err); err != nil {
					t.Fatal(err)
				}
				if got := spooled(t, s); got != step.want || len(l.unfinished()) != step.live {
					t.Errorf("step %d: spooled %q and %d not finished, want %q and %d", i, got, len(l.unfinished()), step.want, step.live)
				}
			}
		})
	}
}

func renamed(pod *corev1.Pod, name string) *corev1.Pod {
	pod.Name = name
	return pod
}

func TestALedgerThatCannotWriteEndsTheWatch(t *testing.T) {
	t.Parallel()
	s := newSpool(t)
	if err := s.file.Close(); err != nil {
		t.Fatal(err)
	}
	l := newLedger(s, func(int, int) {})
	ended := 0
	l.failed = func() { ended++ }
	for _, name := range []string{"a", "b"} {
		if err := l.Add(aPod(name, 0, corev1.PodSucceeded)); err != nil {
			t.Error(err)
		}
	}
	if !errors.Is(l.err, os.ErrClosed) || ended != 1 {
		t.Errorf("the error is %v, and the watch was ended %d times", l.err, ended)
	}
}

func TestASpoolLosesNothingWhenItIsCutShort(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "spool")
	header := spoolHeader{Namespace: "etl", Selector: "app=sort", Since: noon}
	pods := []*corev1.Pod{record.Deleted(aPod("a", 0, corev1.PodSucceeded)), record.Deleted(aPod("b", 0, corev1.PodSucceeded))}
	s, err := openSpool(path, header)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.add(pods[0]), s.add(pods[1]), s.close()); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := slices.Collect(strings.Lines(string(whole)))
	headed, first := len(lines[0]), len(lines[0])+len(lines[1])
	for length := range len(whole) + 1 { // killed after that number of bytes
		if err := os.WriteFile(path, whole[:length], 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := openSpool(path, spoolHeader{Namespace: "etl", Selector: "app=sort"})
		if err != nil {
			t.Fatalf("after %d bytes: %v", length, err)
		}
		want := 0
		if length >= first {
			want = 1
		}
		if length == len(whole) {
			want = 2
		}
		if s.size() != want || s.header.Since.Equal(noon) != (length >= headed) {
			t.Errorf("after %d bytes: %d pods since %v, want %d", length, s.size(), s.header.Since, want)
		}
		if err := errors.Join(s.add(pods[0]), s.add(pods[1])); err != nil {
			t.Fatal(err)
		}
		if got := spooled(t, s); got != "a:Succeeded b:Succeeded" {
			t.Errorf("after %d bytes and what came again: %q", length, got)
		}
		if err := s.close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestASpoolOfSomethingElseIsRefused(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ content, want string }{
		"another file": {"job,arrival\n1,0\n", "line 1: this is no recording that goes on: remove the file, or name another one with --to"},
		"another namespace": {
			`{"format":"loadline-recording/v1","namespace":"shop","selector":"","since":"0001-01-01T00:00:00Z"}` + "\n",
			`line 1: this is a recording of namespace "shop" with selector "", not of "etl" with ""`,
		},
		"a damaged pod": {
			`{"format":"loadline-recording/v1","namespace":"etl","selector":"","since":"0001-01-01T00:00:00Z"}` + "\n{]\n", "line 2: invalid character",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "spool")
			if err := os.WriteFile(path, []byte(test.content), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := openSpool(path, spoolHeader{Namespace: "etl"}); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error is %v, want %q", err, test.want)
			}
			if content, err := os.ReadFile(path); err != nil || string(content) != test.content {
				t.Errorf("the file was changed to %q (%v)", content, err)
			}
		})
	}
}
