package comparison

import (
	"os"
	"testing"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"loadline.dev/loadline/hack/cluster/controlplane"
	"loadline.dev/loadline/hack/local"
)

// start starts a control plane for a test, with Loadline's scheduler.
func start(t *testing.T) (c *Cluster, root string) {
	t.Helper()
	ctrl.SetLogger(logr.Discard())
	root, err := local.Root(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	program, err := local.Build(t.Context(), root, dir, "loadline-scheduler")
	if err != nil {
		t.Fatal(err)
	}
	plane, err := controlplane.Start(t.Context(), controlplane.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := plane.Stop(); err != nil {
			t.Error(err)
		}
	})
	c, err = NewCluster(plane, root, dir, map[string]string{Loadline: program}, NewProgress(os.Stderr))
	if err != nil {
		t.Fatal(err)
	}
	return c, root
}
