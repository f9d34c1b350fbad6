package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"loadline.dev/loadline/hack/cluster/image"
)

func newLoad(l *local) *cobra.Command {
	var registry string
	load := &cobra.Command{
		Use:   "load PROGRAM...",
		Short: "Make an image loadline/NAME:dev of each static program, on all real nodes",
		Long: `load makes an image loadline/NAME:dev of each static program, on all real nodes. With --registry it
takes folders, which "cluster image" has written, and each image is known by its digest, as if it had been
pulled from that registry.`,
		Example: `  # An image for pods to run, loadline/loadline-probe:dev
  cluster load bin/loadline-probe

  # The one that is released, localhost/loadline/loadline-probe@sha256:...
  cluster load --registry localhost out/images/loadline-probe`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("load what? Name static programs, such as bin/loadline-manager")
			}
			return nil
		},
		RunE: func(command *cobra.Command, args []string) error {
			return l.load(command.Context(), registry, args, command.ErrOrStderr())
		},
	}
	load.Flags().StringVar(&registry, "registry", "", "load images that were written for this `registry`, by their digests")
	return load
}

// load has images imported into all real nodes: of programs, or with a registry those of layouts.
func (l *local) load(ctx context.Context, registry string, paths []string, log io.Writer) (err error) {
	dir, err := os.MkdirTemp(l.nodesDir(), "images-")
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s: no control plane with real nodes runs there", l.dir)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	for _, path := range paths {
		archive := filepath.Join(dir, filepath.Base(path)+".tar")
		order, called := url.Values{"archive": {archive}}, reference(path)
		if registry == "" {
			err = image.WriteFile(archive, called, path)
		} else {
			called = registry + "/loadline/" + filepath.Base(path)
			order.Set("repository", called)
			err = image.PackLayout(archive, path)
		}
		if err != nil {
			return err
		}
		if err := l.order(ctx, loadOrder, order); err != nil {
			return err
		}
		fmt.Fprintln(log, "loaded", called)
	}
	return nil
}
