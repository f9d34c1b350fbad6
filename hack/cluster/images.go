package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"

	"loadline.dev/loadline/hack/cluster/image"
	"loadline.dev/loadline/hack/cluster/image/sbom"
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
		archive := filepath.Join(dir, filepath.Base(program)+".tar")
		if err := image.WriteFile(archive, reference(program), program); err != nil {
			return err
		}
		if err := c.order(ctx, loadOrder, url.Values{"archive": {archive}}); err != nil {
			return err
		}
		fmt.Fprintln(c.stderr, "loaded", reference(program))
	}
	return nil
}

// image writes images of programs into a folder: of those of one name NAME, which are for different platforms, the
// archive NAME.tar, for the platform of the first, and the layout NAME, for all. It says each image's digest.
func (c *command) image() error {
	folder, programs := c.args[0], slices.Clone(c.args[1:])
	for len(programs) > 0 {
		name := filepath.Base(programs[0])
		others := func(program string) bool { return filepath.Base(program) != name }
		same := slices.DeleteFunc(slices.Clone(programs), others)
		programs = slices.DeleteFunc(programs, func(program string) bool { return !others(program) })

		if err := image.WriteFile(filepath.Join(folder, name+".tar"), reference(name), same[0]); err != nil {
			return err
		}
		digest, err := image.WriteLayout(filepath.Join(folder, name), same...)
		if err != nil {
			return err
		}
		for _, program := range same {
			if err := writeBill(folder, program); err != nil {
				return err
			}
		}
		fmt.Fprintln(c.stdout, digest, name)
	}
	return nil
}

// writeBill writes the bill of materials of a program into a folder.
func writeBill(folder, program string) error {
	file, err := sbom.FileName(program)
	if err != nil {
		return err
	}
	return sbom.WriteFile(filepath.Join(folder, file), program)
}

// sbom writes the bill of materials of a program, for any platform, into a file.
func (c *command) sbom() error { return sbom.WriteFile(c.args[1], c.args[0]) }
