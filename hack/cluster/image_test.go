package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"loadline.dev/loadline/hack/cluster/image"
)

func TestImageWritesAnArchiveALayoutAndABillOfEachProgram(t *testing.T) {
	t.Parallel()
	built := t.TempDir()
	programs := []string{filepath.Join(built, "pause"), filepath.Join(built, "break")}
	for _, program := range programs {
		if err := image.BuildProgram(t.Context(), ".", "./pause", program); err != nil {
			t.Fatal(err)
		}
	}
	folder := filepath.Join(t.TempDir(), "images")
	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), append([]string{"image", folder}, programs...), &stdout, &stderr); code != exitDone {
		t.Fatalf("exit code %d: %s", code, stderr.String())
	}
	if said := regexp.MustCompile(`^sha256:[0-9a-f]{64} pause\nsha256:[0-9a-f]{64} break\n$`); !said.Match(stdout.Bytes()) {
		t.Errorf("standard output is %q, want a digest of each", stdout.String())
	}
	for _, name := range []string{"pause", "break"} {
		for _, file := range []string{name + ".tar", name + "/index.json", name + "_linux_" + runtime.GOARCH + ".cdx.json"} {
			if info, err := os.Stat(filepath.Join(folder, file)); err != nil || info.Size() == 0 {
				t.Errorf("%s: %v", file, err)
			}
		}
	}
}

func TestSbomWritesWhatAProgramIsMadeOf(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "bill.json")
	if stdout, stderr, code := call(t, "sbom", program, file); code != exitDone || stdout != "" {
		t.Fatalf("exit code %d: %s%s", code, stdout, stderr)
	}
	bill, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(bill), `"pkg:golang/k8s.io/client-go@`) {
		t.Errorf("the bill of this program does not list client-go:\n%s", bill)
	}
}
