package process

import (
	"os/exec"
	"testing"
)

func TestOutputIsWithoutSpacesAroundIt(t *testing.T) {
	t.Parallel()
	if said, err := Output(exec.CommandContext(t.Context(), "sh", "-c", "echo; echo ' answer '")); err != nil || said != "answer" {
		t.Errorf("got %q, %v", said, err)
	}
}

func TestAnErrorQuotesTheProgramAndWhatItSaid(t *testing.T) {
	t.Parallel()
	_, err := Output(exec.CommandContext(t.Context(), "sh", "-c", "echo answer; echo why >&2; exit 3"))
	if want := "sh -c echo answer; echo why >&2; exit 3: exit status 3\nwhy"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
