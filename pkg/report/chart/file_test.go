package chart

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAChartIsWrittenAsItsExtensionSays(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]string{"chart.svg": "<?xml", "chart.png": "\x89PNG"} {
		path := filepath.Join(t.TempDir(), name)
		if err := WriteFile(path, threeByTwo()); err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(string(content), start) {
			t.Errorf("%s starts with %q, want %q", name, content[:5], start)
		}
	}
}

func TestAChartReplacesTheFileThatWasThere(t *testing.T) {
	t.Parallel()
	path := fileWith(t, "chart.svg", "old")
	if err := WriteFile(path, twoSamples()); err != nil {
		t.Fatal(err)
	}
	if got := only(t, path); got == "old" {
		t.Error("the file was not replaced")
	}
}

func TestAChartThatCannotBeDrawnLeavesTheFileAsItWas(t *testing.T) {
	t.Parallel()
	path := fileWith(t, "chart.svg", "old")
	err := WriteFile(path, Distribution{Quantity: "dilation"})
	if want := path + ": samples: there are 0; a chart shows 1 to 10"; errorText(err) != want {
		t.Errorf("error = %v, want %s", err, want)
	}
	if got := only(t, path); got != "old" {
		t.Errorf("the file holds %q", got)
	}
}

func TestAChartThatCannotBeMovedIntoPlaceLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "chart.svg")
	if err := os.Mkdir(path, 0o755); err != nil { // a folder is in the way
		t.Fatal(err)
	}
	if err := WriteFile(path, twoSamples()); err == nil {
		t.Error("no error")
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 1 {
		t.Errorf("there are %v, want only the folder", entries)
	}
}

func TestAChartIntoAFolderThatIsNotThereIsAnError(t *testing.T) {
	t.Parallel()
	if err := WriteFile(filepath.Join(t.TempDir(), "none", "chart.svg"), twoSamples()); !os.IsNotExist(err) {
		t.Errorf("error = %v, want does not exist", err)
	}
}

func fileWith(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// only returns the content of a file that must be alone in its folder.
func only(t *testing.T, path string) string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 1 {
		t.Errorf("there are %v, want only %s", entries, path)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
