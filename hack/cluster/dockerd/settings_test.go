//go:build linux

package dockerd

import (
	"os"
	"path/filepath"
	"testing"
)

func TestTheKernelsSettingsAreWhatTheyWereBeforeTheFirstDaemon(t *testing.T) {
	t.Parallel()
	sys, file := t.TempDir(), filepath.Join(t.TempDir(), "settings.json")
	setting := filepath.Join(sys, "kernel", "panic")
	set := func(value string) {
		t.Helper()
		if err := os.WriteFile(setting, []byte(value), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Dir(setting), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, value := range []string{"1\n", "10\n"} { // the second time by a daemon that follows one that was killed
		set(value)
		if err := saveSettings(sys, file); err != nil {
			t.Fatal(err)
		}
	}
	if err := restoreSettings(sys, file); err != nil {
		t.Fatal(err)
	}
	if value, err := os.ReadFile(setting); err != nil || string(value) != "1\n" {
		t.Errorf("kernel.panic is %q, %v", value, err)
	}
	if others, err := os.ReadDir(sys); err != nil || len(others) != 1 {
		t.Errorf("settings that the kernel has not were made: %v, %v", others, err)
	}
	if err := restoreSettings(sys, file); err != nil {
		t.Errorf("once they are restored: %v", err)
	}
}
