package local

import (
	"strings"
	"testing"
)

func TestAManifestIsDecodedInItsOrder(t *testing.T) {
	t.Parallel()
	objects, err := Decode(strings.NewReader("# only a comment\n---\nkind: B\nmetadata: {name: b}\n---\n---\n{\"kind\": \"A\", \"metadata\": {\"name\": \"a\"}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if len(objects) != 2 || objects[0].GetKind() != "B" || objects[1].GetName() != "a" {
		t.Errorf("%v", objects)
	}
	if _, err := Decode(strings.NewReader("kind: [")); err == nil {
		t.Error("what is no YAML is taken")
	}
}
