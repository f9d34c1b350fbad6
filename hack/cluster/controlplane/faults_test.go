package controlplane_test

import (
	"context"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"loadline.dev/loadline/hack/cluster/controlplane"
)

// Parts reach each other through what stands between them, and each is killed, started again, stopped and resumed by its name.
func TestPartsAreKilledAndStartedAgain(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	asked := map[string]string{}
	plane := start(t, controlplane.Options{Through: func(from, to, address string) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		asked[from] = to
		return forward(t, address), nil
	}})
	want := map[string]string{
		controlplane.APIServer: controlplane.Etcd, controlplane.ControllerManager: controlplane.APIServer, controlplane.KWOK: controlplane.APIServer,
	}
	for from, to := range want {
		if asked[from] != to {
			t.Errorf("%s asked for %q, want %s", from, asked[from], to)
		}
	}
	contains(t, plane.Revive(t.Context(), "none"), "no such part")
	for _, name := range []string{controlplane.Etcd, controlplane.APIServer, controlplane.ControllerManager, controlplane.KWOK} {
		for _, do := range []func() error{
			func() error { return plane.Pause(name) },
			func() error { return plane.Resume(name) },
			func() error { return plane.Kill(name) },
			func() error { return plane.Revive(t.Context(), name) },
			func() error { return plane.Revive(t.Context(), name) }, // it runs
		} {
			if err := do(); err != nil {
				t.Fatal(err)
			}
		}
	}
	client, err := kubernetes.NewForConfig(plane.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	await(t, "the API server answers", func(ctx context.Context) (bool, error) {
		ctx, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		_, err := client.CoreV1().Namespaces().Get(ctx, "default", metav1.GetOptions{})
		return err == nil, nil
	})
	if err := plane.Err(); err != nil {
		t.Error(err)
	}
}

// forward returns an address of connections that are passed on to another one until the test ends.
func forward(t *testing.T, to string) string {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Error(err)
		return ""
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			in, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer in.Close()
				out, err := new(net.Dialer).DialContext(t.Context(), "tcp", to)
				if err != nil {
					return
				}
				defer out.Close()
				go func() { _, _ = io.Copy(out, in); out.Close() }() // one of them ends first
				_, _ = io.Copy(in, out)
			}()
		}
	}()
	return listener.Addr().String()
}
