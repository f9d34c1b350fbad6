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

	"loadline.dev/loadline/hack/cluster/controlplane"
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
	loadOrder = "/load" // archive, repository
	nodeOrder = "/node" // do (the name of one of nodeVerbs), name
)

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
