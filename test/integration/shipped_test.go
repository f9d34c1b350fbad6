package integration

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/hack/local"
)

func TestTheServerAcceptsTheSamples(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(root, "config", "samples", "*.yaml"))
	must(t, err)
	if len(files) == 0 {
		t.Fatal("there are no samples")
	}
	for _, name := range files {
		file, err := os.Open(filepath.Clean(name))
		must(t, err)
		decoder := yaml.NewYAMLOrJSONDecoder(file, 4096)
		for {
			object := &unstructured.Unstructured{}
			if err := decoder.Decode(object); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			object.SetNamespace("default")
			if err := shared.Create(t.Context(), object, client.DryRunAll, client.FieldValidation(metav1.FieldValidationStrict)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		must(t, file.Close())
	}
}

func TestTheShippedConfigurationPlacesPodsAndCountsThem(t *testing.T) {
	t.Parallel()
	p := shared.newPlace(t, 2)
	must(t, p.Create(t.Context(), p.profile("job", map[string]string{"disk": "0.9"})))
	profiles, err := local.ShippedProfiles(root)
	must(t, err)
	process := p.startScheduler(t, profiles)
	for _, name := range []string{"a", "b"} {
		must(t, p.Create(t.Context(), p.pod(name, "job")))
	}
	if on := p.awaitBound(t, 2); on["a"] == on["b"] {
		t.Errorf("two disk-bound pods share %s", on["a"])
	}
	must(t, p.Create(t.Context(), p.pod("c", "without-profile")))
	p.awaitBound(t, 3)
	metrics, err := process.Get(t.Context(), "/metrics")
	must(t, err)
	for _, line := range []string{
		`loadline_dilation_pods_scored_total{vector="profile"} 2`,
		`loadline_dilation_pods_scored_total{vector="requests"} 1`,
		`loadline_dilation_profiles{state="ignored"} 0`,
	} {
		if !strings.Contains(metrics, line+"\n") {
			t.Errorf("the metrics have no %s", line)
		}
	}
}
