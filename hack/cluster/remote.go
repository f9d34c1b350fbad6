package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"loadline.dev/loadline/hack/cluster/controlplane"
	"loadline.dev/loadline/hack/cluster/realnode"
)

// socket is where the process that runs real nodes takes orders from others: HTTP on a socket that only its user can
// open. An error is answered as text.
func (l *local) socket() string { return filepath.Join(l.nodesDir(), "orders") }

// nodesDir is the folder of the real nodes' files.
func (l *local) nodesDir() string { return filepath.Join(l.dir, "nodes") }

// maxSocketPath is how long the path of a socket can be: see unix(7).
const maxSocketPath = 107

// The orders. Their arguments are query parameters.
const (
	loadOrder = "/load" // archive
	nodeOrder = "/node" // do (the name of one of nodeVerbs), name
)

// remote takes orders.
type remote struct {
	server *http.Server
	ended  chan struct{}
}

// serveRemote takes orders for a machine's nodes at a socket until it is closed. ctx ends orders that are being
// carried out. log is told when something else ends it.
func serveRemote(ctx context.Context, socket string, machine *realnode.Machine, log io.Writer) (*remote, error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "unix", socket)
	if err != nil {
		return nil, fmt.Errorf("take orders for nodes: %w", err)
	}
	if err := os.Chmod(socket, 0o600); err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	orders := http.NewServeMux()
	handle := func(path string, carryOut func(context.Context, url.Values) error) {
		orders.HandleFunc("POST "+path, func(w http.ResponseWriter, r *http.Request) {
			if err := carryOut(r.Context(), r.URL.Query()); err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
			}
		})
	}
	handle(loadOrder, func(ctx context.Context, args url.Values) error {
		return machine.Load(ctx, args.Get("archive"))
	})
	handle(nodeOrder, func(ctx context.Context, args url.Values) error {
		named, err := machine.Node(args.Get("name"))
		if err != nil {
			return err
		}
		return doTo(ctx, named, args.Get("do"))
	})
	r := &remote{ended: make(chan struct{}), server: &http.Server{
		Handler: orders, ReadHeaderTimeout: 10 * time.Second, BaseContext: func(net.Listener) context.Context { return ctx },
	}}
	go func() {
		defer close(r.ended)
		if err := r.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			fmt.Fprintln(log, "no more orders for nodes are taken:", err)
		}
	}()
	return r, nil
}

// close takes no more orders, and gives up those that are being carried out.
func (r *remote) close() error {
	err := r.server.Close()
	<-r.ended
	return err
}

// order has the process that runs real nodes carry out an order.
func (l *local) order(ctx context.Context, path string, args url.Values) error {
	if _, err := controlplane.Find(l.dir); err != nil {
		return err
	}
	if _, err := os.Stat(l.socket()); errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s: the control plane that runs there has no real nodes, or is still starting them", l.dir)
	}
	client := &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			var dialer net.Dialer
			return dialer.DialContext(ctx, "unix", l.socket())
		},
	}}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://nodes"+path+"?"+args.Encode(), http.NoBody)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return errors.New(strings.TrimSpace(string(answer)))
	}
	return nil
}
