//go:build e2e

package e2e

import (
	"context"
	"flag"
	"fmt"
	"os"
	"testing"

	"loadline.dev/loadline/test/live"
)

var (
	operator   = flag.String("operator-namespace", "loadline-system", "namespace that Loadline runs in")
	probeImage = flag.String("probe-image", "loadline/loadline-probe:dev", "image with loadline-probe on its PATH")
)

// Names of the Deployments, as config/default and a release "loadline" of the chart
// have them.
const (
	manager   = "loadline-manager"
	scheduler = "loadline-scheduler"
)

// cluster is the cluster that the tests run on.
var cluster *live.Cluster

func TestMain(m *testing.M) {
	flag.Parse()
	if err := connect(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// connect finds the cluster and waits until Loadline is available there.
func connect(ctx context.Context) (err error) {
	if cluster, err = live.Connect(ctx, *probeImage); err != nil {
		return err
	}
	for _, name := range []string{manager, scheduler} {
		if err := cluster.AwaitAvailable(ctx, *operator, name); err != nil {
			return fmt.Errorf("%w (apply config/default, or install the chart)", err)
		}
	}
	return nil
}
