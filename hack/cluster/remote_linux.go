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
	"time"

	"loadline.dev/loadline/hack/cluster/realnode"
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
		return machine.Load(ctx, args.Get("archive"), args.Get("repository"))
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
