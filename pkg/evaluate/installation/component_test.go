package installation

import "testing"

func TestTheVersionOfAnImageIsItsTag(t *testing.T) {
	t.Parallel()
	for image, want := range map[string]string{
		"loadline/loadline-manager:0.2.0":             "0.2.0",
		"registry.test:5000/loadline-manager":         "latest",
		"registry.test:5000/loadline-manager:dev":     "dev",
		"loadline-manager@sha256:0123":                "sha256:0123",
		"registry.test:5000/l-manager:v1@sha256:0123": "v1",
	} {
		if got := versionOf(image); got != want {
			t.Errorf("%s: %s, want %s", image, got, want)
		}
	}
}
