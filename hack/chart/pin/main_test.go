package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	digest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	some   = `image:
  # -- Registry.
  registry: ""
manager:
  image:
    # -- Name.
    repository: loadline/loadline-manager
    tag: ""
    # -- Digest.
    digest: ""
`
)

func TestTheRegistryAndEveryDigestAreWritten(t *testing.T) {
	t.Parallel()
	got, err := pin([]byte(some), "r.example.com:5000/a", map[string]string{"loadline-manager": digest})
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Replace(strings.Replace(some, `registry: ""`, `registry: "r.example.com:5000/a"`, 1), `digest: ""`, "digest: "+digest, 1)
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("unexpected values (-want +got):\n%s", diff)
	}
}

func TestAnImageWithoutADigestIsAnError(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ values, want string }{
		"whose digest is not known":   {strings.Replace(some, "loadline-manager", "loadline-gauge", 1), `no digest of the image "loadline/loadline-gauge"`},
		"whose value is not there":    {strings.Replace(some, `    digest: ""`, "", 1), "loadline/loadline-manager has no digest"},
		"of a registry that is there": {strings.Replace(some, `registry: ""`, `registry: r`, 1), "want one image.registry"},
	} {
		if _, err := pin([]byte(test.values), "r", map[string]string{"loadline-manager": digest}); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got the error %v, want %s", name, err, test.want)
		}
	}
}

func TestDigestsAreThoseOfMakeImages(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "digests.txt")
	for text, want := range map[string]string{digest + " loadline-manager\n": digest, "sha256:12 loadline-manager\n": ""} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		digests, err := readDigests(file)
		if digests["loadline-manager"] != want || (err == nil) != (want != "") {
			t.Errorf("%q gives %v, %v", text, digests, err)
		}
	}
}
