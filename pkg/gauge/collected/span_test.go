package collected

import (
	"testing"

	"pgregory.net/rapid"
)

func TestUIDsArePackedAndUnpacked(t *testing.T) {
	t.Parallel()
	for uid, want := range map[string]int{
		"0e1f2a3b-0000-4000-8000-00000000beef": 17, // of an API server
		"0e1f2a3b0000400080000000000000ff":     17, // of a static pod
		"0E1F2A3B-0000-4000-8000-00000000BEEF": 37, // others keep what they are
		"0e1f2a3b0000-4000-8000-0000-0000beef": 37,
		"-e1f2a3b00004000800000000000000ff":    34,
		"0e1f2a3b-0000-4000-8000-00000000beeg": 37,
		"a":                                    2,
	} {
		packed := string(packUID(nil, uid))
		if got := unpackUID(packed); got != uid || len(packed) != want {
			t.Errorf("%q is %q of %d bytes, want %d", uid, got, len(packed), want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		uid := rapid.OneOf(rapid.StringMatching(`[0-9a-fA-F-]{30,38}`), rapid.String()).Draw(t, "uid")
		if got := unpackUID(string(packUID([]byte("before"), uid)[len("before"):])); got != uid {
			t.Fatalf("%q is %q", uid, got)
		}
	})
}
