package recording_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadline.dev/loadline/hack/recording"
)

func TestARecordingIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a.json", "a.json.gz"} {
		path := filepath.Join(t.TempDir(), name)
		for _, want := range [][]string{{"first"}, {"second", "of two"}} { // the latter in the place of the former
			if err := recording.Save(path, want); err != nil {
				t.Fatal(err)
			}
			var got []string
			if err := recording.Load(path, &got); err != nil || !cmp.Equal(got, want) {
				t.Errorf("%s: got %q, %v", name, got, err)
			}
		}
	}
}

func TestWhatIsNoRecordingIsAnErrorThatNamesTheFile(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a.json", "a.json.gz"} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte("none"), 0o600); err != nil {
			t.Fatal(err)
		}
		var got []string
		if err := recording.Load(path, &got); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
