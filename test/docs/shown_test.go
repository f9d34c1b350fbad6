package docs

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/equality"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/test/manifests"
)

// What users copy from here has to work with every later version of the same API.
func TestEveryManifestThatIsShownIsInTheListOfThose(t *testing.T) {
	t.Parallel()
	listed, err := manifests.Shown()
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	lookUp := func(where, text string) {
		objects, err := manifests.Read([]byte(text))
		if err != nil {
			t.Fatalf("%s: %v", where, err)
		}
		for _, object := range objects {
			if object["apiVersion"] != v1alpha1.GroupVersion.String() {
				continue
			}
			found++
			same := func(other map[string]any) bool { return equality.Semantic.DeepEqual(object, other) }
			if !slices.ContainsFunc(listed, same) {
				t.Errorf("%s: please add this %s to test/manifests/shown.yaml", where, object["kind"])
			}
		}
	}
	for _, p := range pages {
		for i := range p.Blocks {
			if b := &p.Blocks[i]; written(p) && whole(b) && !b.Console() {
				lookUp(at(p, b.Line), b.Text)
			}
		}
	}
	for _, folder := range []string{"docs/examples", "config/samples"} {
		files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(folder), "*.yaml"))
		if err != nil || len(files) == 0 {
			t.Fatal(files, err)
		}
		for _, file := range files {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			lookUp(strings.TrimPrefix(file, root+"/"), string(content))
		}
	}
	if found == 0 {
		t.Error("found none")
	}
}
