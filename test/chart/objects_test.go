package chart

import (
	"bufio"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

func newBufferedReader(text string) *bufio.Reader { return bufio.NewReader(strings.NewReader(text)) }

// names returns the names of all objects of a kind, sorted.
func names(all []*unstructured.Unstructured, kind string) []string {
	found := []string{}
	for _, o := range all {
		if o.GetKind() == kind {
			found = append(found, o.GetName())
		}
	}
	slices.Sort(found)
	return found
}

// get returns the object of a kind and name, which must be there.
func get(t *testing.T, all []*unstructured.Unstructured, kind, name string) *unstructured.Unstructured {
	t.Helper()
	for _, o := range all {
		if o.GetKind() == kind && o.GetName() == name {
			return o
		}
	}
	t.Fatalf("there is no %s %q, only %q", kind, name, names(all, kind))
	return nil
}

// as returns the object of a kind and name as its Go type.
func as[T any](t *testing.T, all []*unstructured.Unstructured, kind, name string) *T {
	t.Helper()
	typed := new(T)
	must(t, runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(get(t, all, kind, name).Object, typed, true))
	return typed
}

// deployment returns a Deployment.
func deployment(t *testing.T, all []*unstructured.Unstructured, name string) *appsv1.Deployment {
	t.Helper()
	return as[appsv1.Deployment](t, all, "Deployment", name)
}

// container returns the container of a Deployment.
func container(t *testing.T, all []*unstructured.Unstructured, name string) *corev1.Container {
	t.Helper()
	containers := deployment(t, all, name).Spec.Template.Spec.Containers
	if len(containers) != 1 {
		t.Fatalf("Deployment %s has %d containers, want 1", name, len(containers))
	}
	return &containers[0]
}

// variable returns the value of an environment variable of a container.
func variable(c *corev1.Container, name string) string {
	for _, v := range c.Env {
		if v.Name == name {
			return v.Value
		}
	}
	return ""
}

// isTest reports whether an object is there for "helm test".
func isTest(o *unstructured.Unstructured) bool {
	return o.GetLabels()["app.kubernetes.io/component"] == "test"
}
