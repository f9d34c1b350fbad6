package main

import (
	"os"
	"path/filepath"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

func TestThePictureOfAClusterNamesWhatIsInstalled(t *testing.T) {
	t.Parallel()
	for _, p := range []program{theScheduler, theManager, theGauge} {
		text, err := os.ReadFile(filepath.Join("..", "..", "config", p.manifest))
		if err != nil {
			t.Fatal(err)
		}
		var installed metav1.PartialObjectMetadata
		if err := yaml.Unmarshal(text, &installed); err != nil {
			t.Fatalf("%s: %v", p.manifest, err)
		}
		if installed.Kind != p.kind || installed.Namespace != p.namespace || installed.Name != p.name {
			t.Errorf("the picture shows the %s %s/%s, config/%s has the %s %s/%s", p.kind, p.namespace, p.name,
				p.manifest, installed.Kind, installed.Namespace, installed.Name)
		}
	}
}
