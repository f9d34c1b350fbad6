package docs

import (
	"strings"
	"testing"

	"loadline.dev/loadline/test/docs/page"
)

// A test of pages that finds nothing wrong may be one that looks at nothing.

func TestWhatIsNotThereIsFound(t *testing.T) {
	t.Parallel()
	for _, command := range []string{
		"make no-such-target",
		"make bin/tools/no-such-tool",
		"helm install loadline charts/nothing",
		"helm install loadline charts/loadline --set manager.nothing=1",
		"helm install loadline charts/loadline --set nothing=1",
		"go test ./pkg/nothing",
		"go test ./pkg/model/sizing -run 'NoSuchTest'",
		"go test ./pkg/model/sizing -run Best -no-such-flag 3",
		"go run ./hack/nothing",
		"bin/tools/cluster nothing",
		"bin/tools/cluster load bin/nothing",
		"loadline-manager --nothing",
		"kubectl apply -f docs/examples/nothing.yaml",
		"sed s/a/b/ docs/examples/nothing.yaml | kubectl apply -f -",
	} {
		for _, c := range checks {
			if !strings.HasPrefix(command+" ", c.begins) {
				continue
			}
			if err := c.check(strings.Fields(command)); err == nil {
				t.Errorf("nothing is found wrong with %s", command)
			}
			break
		}
	}
}

func TestOutputsMatchButForTimesAndEllipses(t *testing.T) {
	t.Parallel()
	const shown = "A   B\n1   2 …\n…\nexact, 248µs by race\n"
	for printed, want := range map[string]bool{
		"A   B\n1   2 3\nexact, 1ms by race\n":           true,
		"A   B\n1   2 \nmore\n\nexact, 2.5s by race\n":   true,
		"A   B\n1   3\nexact, 248µs by race\n":           false,
		"A   B\n1   2 3\nexact, 248µs by race\nand on\n": false,
		"A   C\n1   2 3\nexact, 248µs by race\n":         false,
	} {
		if matches(printed, shown) != want {
			t.Errorf("%q matches: %v", printed, !want)
		}
	}
}

func TestOtherColumnsAreFound(t *testing.T) {
	t.Parallel()
	const shown = "NAME   SLAS MISSED\na      1\n"
	if why := otherColumns("NAME    SLAS MISSED\nbb      2\n", shown); why != "" {
		t.Error(why)
	}
	if otherColumns("NAME   AGE\na      1\n", shown) == "" || otherColumns("No resources found.\n", shown) == "" {
		t.Error("other columns are not found")
	}
	if why := otherColumns("deployment.apps/cart patched\n", "deployment.apps/cart patched\n"); why != "" {
		t.Error(why)
	}
}

func TestBrokenLinksAreFound(t *testing.T) {
	t.Parallel()
	p := &page.Page{Path: "docs/README.md", Anchors: map[string]bool{"here": true}}
	for target, fine := range map[string]bool{
		"#here": true, "#there": false, "../README.md": true, "../README.md#try-it-in-two-commands": true, "../README.md#nothing": false,
		"nothing.md": false, "../go.mod": true, "../go.mod#line": false,
	} {
		if why := broken(p, target); (why == "") != fine {
			t.Errorf("%s: %q", target, why)
		}
	}
}

func TestFragmentsOfObjectsAreDecoded(t *testing.T) {
	t.Parallel()
	decode := decoder(t)
	if err := (other{within: aWLP}).check(decode, "fairShare: {tree: company, share: 75}\n"); err != nil {
		t.Error(err)
	}
	if err := (other{within: aWLP}).check(decode, "fairShare: {tree: company, shares: 75}\n"); err == nil {
		t.Error("an unknown field is not found")
	}
}
