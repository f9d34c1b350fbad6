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
	return &cobra.Command{
		Use:   "load PROGRAM...",
		Short: "Make an image loadline/NAME:dev of each static program, on all real nodes",
		Example: `  # An image for pods to run, loadline/loadline-probe:dev
  cluster load bin/loadline-probe`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("load what? Name static programs, such as bin/loadline-manager")
			}
			return nil
		},
		RunE: func(command *cobra.Command, args []string) error {
			return l.load(command.Context(), args, command.ErrOrStderr())
		},
	}
}

// load makes images of programs and has them imported into all real nodes.
func (l *local) load(ctx context.Context, programs []string, log io.Writer) (err error) {
	dir, err := os.MkdirTemp(l.nodesDir(), "images-")
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s: no control plane with real nodes runs there", l.dir)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	for _, program := range programs {
		archive := filepath.Join(dir, filepath.Base(program)+".tar")
		if err := image.WriteFile(archive, reference(program), program); err != nil {
			return err
		}
		if err := l.order(ctx, loadOrder, url.Values{"archive": {archive}}); err != nil {
			return err
		}
		fmt.Fprintln(log, "loaded", reference(program))
	}
	return nil
}
