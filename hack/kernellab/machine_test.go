package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The format is that of Documentation/driver-api/early-userspace/buffer-format.rst in the kernel.
func TestTheKernelBeginsWithTheFilesThatItIsGiven(t *testing.T) {
	t.Parallel()
	archive := rootFiles(file{"proc", directory, nil}, file{"init", executable, []byte("\x7fELF program")}, file{"mixes", plain, []byte("2 60 1\n")})
	got := map[string]string{}
	for offset := 0; offset < len(archive); {
		const header = 110
		field := func(i int) (n int) {
			if _, err := fmt.Sscanf(string(archive[offset+6+8*i:][:8]), "%X", &n); err != nil {
				t.Fatal(err)
			}
			return n
		}
		size, nameSize := field(6), field(11)
		name := string(bytes.TrimRight(archive[offset+header:][:nameSize], "\x00"))
		if string(archive[offset:][:6]) != "070701" {
			t.Fatalf("no header at %d", offset)
		}
		if offset+header+nameSize > len(archive) || strings.Contains(name, "\x00") {
			t.Fatalf("the name at %d does not end where it says", offset)
		}
		content := roundUp(offset + header + nameSize)
		got[name] = fmt.Sprintf("%o %q", field(1), archive[content:][:size])
		offset = roundUp(content + size)
	}
	want := map[string]string{
		"proc": `40755 ""`, "init": `100755 "\x7fELF program"`, "mixes": `100644 "2 60 1\n"`, "TRAILER!!!": `0 ""`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("modes and contents (-want +got):\n%s", diff)
	}
}

// roundUp returns the next multiple of four.
func roundUp(n int) int { return (n + 3) &^ 3 }
