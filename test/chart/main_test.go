// Package chart tests the Helm chart with the real helm: what its values do, what
// they refuse, that it has the same objects as config, and that an API server takes
// them.
package chart

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/yaml"

	"loadline.dev/loadline/hack/local"
)

// helmVariable is the environment variable that names the helm to test with.
const helmVariable = "LOADLINE_HELM"

// What all tests share.
var (
	root string // of the repository
	helm string // the path of the program
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	var err error
	if root, err = local.Root(context.Background()); err == nil {
		helm, err = findHelm()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "chart:", err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// findHelm returns the path of a helm: the one that the environment names, the one
// that make builds, or the one on PATH.
func findHelm() (string, error) {
	if path := os.Getenv(helmVariable); path != "" {
		return path, nil
	}
	built := filepath.Join(root, "bin", "tools", "helm")
	if _, err := os.Stat(built); err == nil {
		return built, nil
	}
	path, err := exec.LookPath("helm")
	if err != nil {
		return "", fmt.Errorf("there is no helm: run make bin/tools/helm, install one, or name one in %s: %w", helmVariable, err)
	}
	return path, nil
}

// chartDir returns the folder of the chart.
func chartDir() string { return filepath.Join(root, "charts", "loadline") }

// runHelm runs helm, without the user's files, and returns what it prints. The error
// is what it says on standard error.
func runHelm(t *testing.T, args ...string) (string, error) {
	t.Helper()
	dir := t.TempDir()
	command := exec.CommandContext(t.Context(), helm, args...)
	command.Env = append(os.Environ(), "HELM_CACHE_HOME="+dir, "HELM_CONFIG_HOME="+dir, "HELM_DATA_HOME="+dir)
	var printed, said bytes.Buffer
	command.Stdout, command.Stderr = &printed, &said
	err := command.Run()
	if err != nil {
		err = errors.New(strings.TrimSpace(said.String()))
	}
	return printed.String(), err
}

// template renders the chart as a release, for Kubernetes 1.37, with values in YAML.
// More flags win.
func template(t *testing.T, release, values string, flags ...string) ([]*unstructured.Unstructured, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "values.yaml")
	must(t, os.WriteFile(file, []byte(values), 0o600))
	return templateFile(t, release, file, flags...)
}

// templateFile is template with the values of a file.
func templateFile(t *testing.T, release, file string, flags ...string) ([]*unstructured.Unstructured, error) {
	t.Helper()
	args := []string{
		"template", release, chartDir(), "--namespace", "loadline-system", "--values", file,
		"--kube-version", "1.37.2", "--api-versions", "admissionregistration.k8s.io/v1/MutatingAdmissionPolicy",
	}
	out, err := runHelm(t, append(args, flags...)...)
	if err != nil {
		return nil, err
	}
	return objects(t, out), nil
}

// render is template for the release "loadline" and values that are right.
func render(t *testing.T, values string, flags ...string) []*unstructured.Unstructured {
	t.Helper()
	rendered, err := template(t, "loadline", values, flags...)
	must(t, err)
	return rendered
}

// renderFile is render with the values of a file.
func renderFile(t *testing.T, file string, flags ...string) []*unstructured.Unstructured {
	t.Helper()
	rendered, err := templateFile(t, "loadline", file, flags...)
	must(t, err)
	return rendered
}

// objects reads the objects of some YAML, in which no field may stand twice.
func objects(t *testing.T, text string) []*unstructured.Unstructured {
	t.Helper()
	var all []*unstructured.Unstructured
	for documents := utilyaml.NewYAMLReader(newBufferedReader(text)); ; {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return all
		}
		must(t, err)
		content, err := yaml.YAMLToJSONStrict(document)
		if err != nil {
			t.Fatalf("%v in\n%s", err, document)
		}
		if string(content) == "null" {
			continue // comments only
		}
		object := &unstructured.Unstructured{}
		if err := object.UnmarshalJSON(content); err != nil {
			t.Fatalf("%v in\n%s", err, document)
		}
		all = append(all, object)
	}
}

// matrix returns the files of charts/loadline/ci, by the names of what they are for.
func matrix(t *testing.T) map[string]string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(chartDir(), "ci", "*-values.yaml"))
	must(t, err)
	files := map[string]string{}
	for _, path := range paths {
		files[strings.TrimSuffix(filepath.Base(path), "-values.yaml")] = path
	}
	for _, want := range []string{"default", "minimal", "maximal"} {
		if files[want] == "" {
			t.Fatalf("there are no values for %q, only for %v", want, slices.Sorted(maps.Keys(files)))
		}
	}
	return files
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
