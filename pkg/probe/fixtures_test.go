package probe

import (
	"strings"
	"testing"
)

// wantError fails unless there is an error with a text in it.
func wantError(t *testing.T, err error, text string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), text) {
		t.Errorf("error = %v, want one with %q", err, text)
	}
}
