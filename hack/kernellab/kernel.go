package main

import (
	"archive/tar"
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// kernels says of which packages of Debian each kernel is.
//
//go:embed kernels.csv
var kernels string

// kernel is what the lab boots.
type kernel struct {
	image string // file
	hz    int    // ticks per second
}

// fetchKernel returns a kernel of Debian. Its packages are downloaded the first time, and kept in a folder.
func fetchKernel(ctx context.Context, name, mirror, folder string) (*kernel, error) {
	packages, err := packagesOf(kernels, name)
	if err != nil {
		return nil, err
	}
	k := &kernel{image: filepath.Join(folder, name+".vmlinuz")}
	var config []byte
	for _, p := range packages {
		file, err := p.fetch(ctx, mirror, folder)
		if err != nil {
			return nil, err
		}
		image, settings, err := unpack(ctx, file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if image != nil {
			if err := os.WriteFile(k.image, image, 0o644); err != nil {
				return nil, err
			}
		}
		if settings != nil {
			config = settings
		}
	}
	k.hz, err = hertz(config)
	return k, err
}

// unpack returns the kernel and its configuration, as far as they are in a package.
func unpack(ctx context.Context, file string) (image, config []byte, err error) {
	var messages bytes.Buffer
	command := exec.CommandContext(ctx, "dpkg-deb", "--fsys-tarfile", file)
	command.Stderr = &messages
	archive, err := command.Output()
	if err != nil {
		return nil, nil, fmt.Errorf("dpkg-deb: %w: %s", err, strings.TrimSpace(messages.String()))
	}
	for files := tar.NewReader(bytes.NewReader(archive)); ; {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return image, config, nil
		}
		if err != nil {
			return nil, nil, err
		}
		switch base := path.Base(header.Name); {
		case strings.HasPrefix(base, "vmlinuz"):
			image, err = io.ReadAll(files)
		case base == "config" || strings.HasPrefix(base, "config-"):
			config, err = io.ReadAll(files)
		}
		if err != nil {
			return nil, nil, err
		}
	}
}

var ticks = regexp.MustCompile(`(?m)^CONFIG_HZ=(\d+)$`)

// hertz returns the ticks per second of a kernel's configuration.
func hertz(config []byte) (int, error) {
	found := ticks.FindSubmatch(config)
	if found == nil {
		return 0, errors.New("the kernel's configuration has no CONFIG_HZ")
	}
	return strconv.Atoi(string(found[1]))
}
