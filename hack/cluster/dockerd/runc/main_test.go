package main

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAContainerAsksForNoCapabilityThatTheMachineLacks(t *testing.T) {
	t.Parallel()
	const asked = `{
		"ociVersion": "1.0.2",
		"process": {
			"oomScoreAdj": -999,
			"capabilities": {"bounding": ["CAP_CHOWN", "CAP_SYS_RESOURCE"], "effective": ["CAP_SYS_RESOURCE"], "ambient": null},
			"rlimits": [{"hard": 18446744073709551615}]
		}
	}`
	for name, test := range map[string]struct {
		bounding map[string]bool
		want     string
	}{
		"without CAP_SYS_RESOURCE": {
			map[string]bool{"CAP_CHOWN": true},
			`{"ociVersion":"1.0.2","process":{"capabilities":{"ambient":null,"bounding":["CAP_CHOWN"],"effective":[]},"rlimits":[{"hard":18446744073709551615}]}}`,
		},
		"with all that it asks for": {
			map[string]bool{"CAP_CHOWN": true, "CAP_SYS_RESOURCE": true},
			`{"ociVersion":"1.0.2","process":{"capabilities":{"ambient":null,"bounding":["CAP_CHOWN","CAP_SYS_RESOURCE"],"effective":["CAP_SYS_RESOURCE"]},` +
				`"oomScoreAdj":-999,"rlimits":[{"hard":18446744073709551615}]}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := limit([]byte(asked), test.bounding)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, string(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAProcessThatJoinsAContainerAsksForNoMore(t *testing.T) {
	t.Parallel()
	got, err := limit([]byte(`{"args": ["sh"], "capabilities": {"permitted": ["CAP_BPF", "CAP_KILL"]}}`), map[string]bool{"CAP_KILL": true})
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"args":["sh"],"capabilities":{"permitted":["CAP_KILL"]}}`; string(got) != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestADescriptionThatIsNoneIsAnError(t *testing.T) {
	t.Parallel()
	if _, err := limit([]byte(`[]`), nil); err == nil {
		t.Error("a list was taken for a description")
	}
}

func TestTheFilesThatRuncReadsAreFoundAmongItsArguments(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ args, want []string }{
		{[]string{"--root", "/r", "create", "--bundle", "/b", "--pid-file", "/b/pid", "id"}, []string{"/b/config.json"}},
		{[]string{"run", "-b=/b", "id"}, []string{"/b/config.json"}},
		{[]string{"exec", "--process", "/p", "--detach", "id"}, []string{"/p"}},
		{[]string{"delete", "--force", "id"}, nil},
		{[]string{"create", "--bundle"}, []string{"config.json"}},
	} {
		if got := described(test.args); !slices.Equal(got, test.want) {
			t.Errorf("%q: got %q, want %q", test.args, got, test.want)
		}
	}
}

func TestCapabilitiesAreNamedAsTheirDescriptionsDo(t *testing.T) {
	t.Parallel()
	set, err := boundingSet()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"CAP_CHOWN", "CAP_SYS_RESOURCE", "CAP_CHECKPOINT_RESTORE"} {
		if _, known := set[name]; !known {
			t.Errorf("%s is not among %v", name, set)
		}
	}
}
