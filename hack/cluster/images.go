package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"loadline.dev/loadline/hack/cluster/image"
)

// reference names the image of a program as a pod does.
func reference(program string) string {
	return "loadline/" + filepath.Base(program) + ":dev"
}

// load makes images of programs and imports them into all real nodes.
func (c *command) load(ctx context.Context) (err error) {
	dir, err := os.MkdirTemp(c.realNodesDir(), "images-")
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s: no control plane with real nodes runs there", c.dir)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	for _, program := range c.args {
		archive, err := writeImage(dir, program)
		if err != nil {
			return err
		}
		if err := c.order(ctx, loadOrder, url.Values{"archive": {archive}}); err != nil {
			return err
		}
		fmt.Fprintln(c.stderr, "loaded", reference(program))
	}
	return nil
}

// image writes images of programs into a folder.
func (c *command) image() error {
	for _, program := range c.args[1:] {
		archive, err := writeImage(c.args[0], program)
		if err != nil {
			return err
		}
		fmt.Fprintln(c.stdout, archive)
	}
	return nil
}

// writeImage writes the image of a program into a folder and returns the archive's path.
func writeImage(dir, program string) (archive string, err error) {
	archive = filepath.Join(dir, filepath.Base(program)+".tar")
	return archive, image.WriteFile(archive, reference(program), program)
}
