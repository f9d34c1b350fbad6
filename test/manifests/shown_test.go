package manifests_test

import (
	"encoding/json"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/validate"
	"loadline.dev/loadline/test/manifests"
)

// The API server accepts them, and the programs read each of their fields.
func TestManifestsThatWereOnceShownAreStillAccepted(t *testing.T) {
	t.Parallel()
	rules, err := validate.Load()
	if err != nil {
		t.Fatal(err)
	}
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	strict := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
	objects, err := manifests.Shown()
	if err != nil || len(objects) < 50 {
		t.Fatalf("%d objects: %v", len(objects), err)
	}
	for i, object := range objects {
		text, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		place := validate.Place{File: "shown.yaml", Document: i + 1, Line: 1}
		answer, err := rules.Check(t.Context(), validate.Input{Documents: []validate.Document{{Place: place, Text: text}}})
		if err != nil {
			t.Fatal(err)
		}
		if answer.Objects != 1 || answer.Errors() > 0 {
			t.Errorf("%s\nis not accepted any more: %v", text, answer.Findings)
		}
		if _, _, err := strict.Decode(text, nil, nil); err != nil {
			t.Errorf("%s\nis not read whole any more: %v", text, err)
		}
	}
}
