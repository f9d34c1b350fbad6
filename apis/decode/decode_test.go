package decode_test

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"loadline.dev/loadline/apis/decode"
)

func TestATextThatIsNoYAMLIsRefusedByItsLine(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ text, want string }{
		"a bracket too many":    {"a: ]\n", "is not YAML: did not find expected node content"},
		"a tab":                 {"a:\n\tb: 1\n", "is not YAML: line 2: a tab indents a line, and only spaces may"},
		"a field twice":         {"a: 1\nb: 2\na: 3\n", `is not YAML: line 3: the field "a" is there twice`},
		"a number that is none": {"a: .nan\n", "is not YAML: a number of it is infinite, or none: write a finite one"},
		"a number without end":  {"a: .inf\n", "is not YAML: a number of it is infinite, or none: write a finite one"},
		"a field without name":  {"? [a, b]\n: 1\n", "is not YAML: the name of a field is no text"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := decode.JSON([]byte(test.text))
			if err == nil || err.Error() != test.want {
				t.Errorf("the error is %v, want %s", err, test.want)
			}
		})
	}
}

func TestAFieldThatDoesNotFitIsNamedWithItsValueAndTheRule(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ spec, want string }{
		"a string for a number":    {`{"replicas": "three"}`, `spec.replicas: Invalid value: "three": is a string where the API wants a whole number`},
		"a part of a number":       {`{"replicas": 1.5}`, "spec.replicas: Invalid value: 1.5: is a number where the API wants a whole number"},
		"a whole number too large": {`{"replicas": 3000000000}`, "spec.replicas: Invalid value: 3000000000: is more than the field holds"},
		"a number for a string":    {`{"template": {"spec": {"nodeName": 7}}}`, "spec.template.spec.nodeName: Invalid value: 7: is a number where the API wants a string"},
		"a string for yes or no":   {`{"paused": "yes"}`, `spec.paused: Invalid value: "yes": is a string where the API wants true or false`},
		"an object for a list":     {`{"template": {"spec": {"containers": {}}}}`, "spec.template.spec.containers: Invalid value: is an object where the API wants a list"},
		"a list for an object":     {`{"template": []}`, "spec.template: Invalid value: is a list where the API wants an object"},
		"an item of another type":  {`{"template": {"spec": {"containers": [{"name": "a"}, "b"]}}}`, `spec.template.spec.containers[1]: Invalid value: "b": is a string where the API wants an object`},
		"an entry of another type": {`{"template": {"metadata": {"labels": {"app.kubernetes.io/name": true}}}}`, "spec.template.metadata.labels[app.kubernetes.io/name]: Invalid value: true: is true or false where the API wants a string"},
		"no quantity": {
			`{"template": {"spec": {"containers": [{"resources": {"requests": {"cpu": "much"}}}]}}}`,
			`spec.template.spec.containers[0].resources.requests[cpu]: Invalid value: "much": is not a quantity such as 500m or 2`,
		},
		"an object for a quantity": {`{"template": {"spec": {"overhead": {"cpu": {}}}}}`, "spec.template.spec.overhead[cpu]: Invalid value: is not a quantity such as 500m or 2"},
		"no time":                  {`{"template": {"metadata": {"creationTimestamp": "yesterday"}}}`, `spec.template.metadata.creationTimestamp: Invalid value: "yesterday": is not a time such as 2026-01-02T15:04:05Z`},
		"neither number nor text":  {`{"strategy": {"rollingUpdate": {"maxSurge": []}}}`, "spec.strategy.rollingUpdate.maxSurge: Invalid value: is neither a whole number nor a string"},
		"an unknown field":         {`{"replica": 3}`, "spec.replica: Forbidden: there is no such field"},
		"another case":             {`{"Replicas": 3}`, "spec.Replicas: Forbidden: there is no such field"},
		"a field twice":            {`{"replicas": 3, "replicas": 4}`, "spec.replicas: Forbidden: the field is there twice"},
		"several":                  {`{"replicas": "a", "paused": 1}`, `[spec.paused: Invalid value: 1: is a number where the API wants true or false, spec.replicas: Invalid value: "a": is a string where the API wants a whole number]`},
		"a long value":             {`{"replicas": "` + strings.Repeat("é", 5000) + `"}`, `spec.replicas: Invalid value: "` + strings.Repeat("é", 60) + `…": is a string where the API wants a whole number`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var decoder decode.Decoder
			err := decoder.Object([]byte(`{"apiVersion": "apps/v1", "kind": "Deployment", "spec": `+test.spec+"}"), &appsv1.Deployment{})
			if err == nil || err.Error() != test.want {
				t.Errorf("the error is %v, want %s", err, test.want)
			}
		})
	}
}

func TestWhatIsNoObjectIsRefused(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"[]": "is a list where the API wants an object", "7": "is a number where the API wants an object", "null": "is nothing where the API wants an object", `"a"`: "is a string where the API wants an object",
	} {
		var decoder decode.Decoder
		if err := decoder.Object([]byte(text), &corev1.Pod{}); err == nil || err.Error() != want {
			t.Errorf("%s: the error is %v, want %s", text, err, want)
		}
	}
}

func TestALenientDecoderLeavesOutWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	decoder := decode.Decoder{Lenient: true}
	pod := &corev1.Pod{}
	const text = `{"metadata": {"name": "a", "uid": null}, "spec": {"futureField": {"x": 1}, "containers": [{"name": "c", "resources": {"limits": {"cpu": 2, "memory": "1Gi"}}}]}, "future": 1}`
	if err := decoder.Object([]byte(text), pod); err != nil {
		t.Fatal(err)
	}
	if cpu := pod.Spec.Containers[0].Resources.Limits.Cpu(); pod.Name != "a" || cpu.Value() != 2 {
		t.Errorf("read %+v", pod)
	}
}

// What the walk through the types accepts is read: there is no error but those that name a field.
func FuzzObject(f *testing.F) {
	f.Add([]byte(`{"spec": {"containers": [{"name": "c", "resources": {"limits": {"cpu": 2}}, "livenessProbe": {"httpGet": {"port": "http"}}}]}, "status": {"startTime": "2026-01-02T15:04:05Z"}}`))
	f.Add([]byte(`{"metadata": {"managedFields": [{"fieldsV1": {"f:a": {}}}], "generation": 1e3}}`))
	f.Add([]byte(`{"spec": {"volumes": [{"secret": {"defaultMode": 420}}], "tolerations": null}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, lenient := range []bool{false, true} {
			decoder := decode.Decoder{Lenient: lenient}
			if err := decoder.Object(text, &corev1.Pod{}); err != nil && strings.Contains(err.Error(), "cannot be read") {
				t.Errorf("%q: %v", text, err)
			}
		}
	})
}
