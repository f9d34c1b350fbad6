//go:build linux

package realnode

import (
	"os"
	"strings"
	"testing"
)

func TestEverythingThatIsMissingIsSaidAtOnce(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root is told more than that it is not root")
	}
	said := strings.Join(missing(1000, "/var/lib/loadline"), "\n")
	for _, want := range []string{"cores: there are", "1000 workers", "another folder than /var/lib/loadline"} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is not said:\n%s", want, said)
		}
	}
}

func TestWhoIsNotRootIsToldThat(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Skip("we are root")
	}
	if said := missing(1, t.TempDir()); len(said) != 1 || !strings.HasPrefix(said[0], "root: ") {
		t.Errorf("got %q, want one sentence, about root", said)
	}
}

func TestFoldersThatANodeDoesNotSeeAreRefused(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root is told more than that it is not root")
	}
	for dir, hidden := range map[string]bool{"/run/x": true, "/var/lib": true, "/var/log/a/b": true, "/var/library": false, "/root/x": false, "/runner": false} {
		if got := strings.Contains(strings.Join(missing(1, dir), "\n"), "another folder"); got != hidden {
			t.Errorf("%s: refused %v, want %v", dir, got, hidden)
		}
	}
}
