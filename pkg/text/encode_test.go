package text

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"
)

// anyText draws strings of what is hard to encode.
func anyText() *rapid.Generator[string] {
	return rapid.OneOf(rapid.String(), rapid.StringOf(rapid.SampledFrom([]rune("a:-#'\"|>&*![]{}%@`\\ \n\t\r\x00\x1b\x7f\u0085\u009b\u2028\u202e\u2066\u200b\ufeff😀\U000e0041"))))
}

// asPrinted returns what a stream makes of some text.
func asPrinted(t interface{ Fatal(...any) }, text []byte) []byte {
	var printed bytes.Buffer
	if _, err := NewWriter(&printed).Write(text); err != nil {
		t.Fatal(err)
	}
	return printed.Bytes()
}

func TestEncodedTextIsPrintableAndDecodesToWhatWentIn(t *testing.T) {
	t.Parallel()
	for format, code := range map[string]struct {
		encode func(any) ([]byte, error)
		decode func([]byte, any) error
	}{
		"JSON": {JSON, json.Unmarshal},
		"YAML": {YAML, func(text []byte, into any) error { return yaml.Unmarshal(text, into) }},
	} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				want := map[string]any{"list": []any{anyText().Draw(t, "item")}, anyText().Draw(t, "name"): anyText().Draw(t, "value")}
				encoded, err := code.encode(want)
				if err != nil {
					t.Fatal(err)
				}
				if printed := asPrinted(t, encoded); !bytes.Equal(printed, encoded) {
					t.Fatalf("a stream makes of %q %q", encoded, printed)
				}
				var got map[string]any
				if err := code.decode(encoded, &got); err != nil {
					t.Fatalf("%v in %q", err, encoded)
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%q differs (-want +got):\n%s", encoded, diff)
				}
			})
		})
	}
}

func TestAManifestHasItsObjectAndNoOther(t *testing.T) {
	t.Parallel()
	const injected = "agent\n---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\n---\r#"
	got, err := Manifests(
		Manifest{Comments: []string{"Of " + injected}, Object: map[string]string{"kind": "WorkloadProfile", "name": injected}},
		Manifest{Comments: []string{injected, "second\u2028line\u0085"}},
	)
	if err != nil {
		t.Fatal(err)
	}
	want := `---
# Of agent\n---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\n---\r#
kind: WorkloadProfile
name: "agent\n---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\n---\r#"
# agent\n---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\n---\r#
# second\u2028line\u0085
`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("the manifests differ (-want +got):\n%s", diff)
	}
}
