//go:build e2e

package install

import (
	"context"
	"flag"
	"fmt"
	"os"
	"testing"

	"loadline.dev/loadline/test/live"
)

var (
	helmProgram   = flag.String("helm", "../../bin/tools/helm", "path of helm")
	chart         = flag.String("chart", "../../charts/loadline", "path of the chart")
	previousChart = flag.String("previous-chart", "../testdata/charts/loadline-0.1.0.tgz", "path of the chart to upgrade from")
	imageTag      = flag.String("image-tag", "dev", "tag of Loadline's images, which the nodes have")
	kubectl       = flag.String("kubectl", "kubectl", `command that runs kubectl, such as "/path/of/bin/tools/cluster kubectl"`)
	auditLog      = flag.String("audit-log", "", "audit log of the API server, for TestRights")
	released      = flag.String("released", "", "folder with what make images and make release-snapshot have made, for TestRelease")
	cosign        = flag.String("cosign", "../../bin/tools/cosign", "path of cosign, for TestRelease")
)

// What the release is called, and what it makes.
const (
	release   = "loadline"
	operator  = "loadline-system" // namespace
	manager   = "loadline-manager"
	scheduler = "loadline-scheduler"
)

// cluster is the cluster that the tests run on.
var cluster *live.Cluster

func TestMain(m *testing.M) {
	flag.Parse()
	var err error
	if cluster, err = live.Connect(context.Background(), "loadline/loadline-probe:"+*imageTag); err != nil {
		fmt.Fprintln(os.Stderr, "install:", err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// The parts go one after the other: there is one cluster, and Loadline is installed
// there once.
func TestInstallation(t *testing.T) { //nolint:paralleltest // see above
	t.Run("gauges alone find who slows whom", gaugesAlone)
	t.Run("it comes, and goes without a trace", comesAndGoes)
	t.Run("the quick start gives what the page shows", quickStart)
	t.Run("an upgrade loses nothing", upgradeLosesNothing)
	t.Run("users have the rights of their roles", usersHaveTheirRights)
	t.Run("another manager leads when the leader dies", managerDies)
	t.Run("another scheduler leads when the leader dies", schedulerDies)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
