package main

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// kernels says of which packages of Debian, in the pool of a mirror, each kernel is.
//
//go:embed kernels.csv
var kernels string

// defaultMirror is Debian's own address, which leads to a mirror nearby.
const defaultMirror = "http://deb.debian.org/debian"

// debianPackage is a package that a kernel is taken from.
type debianPackage struct{ path, sha256 string }

// packagesOf returns those of a kernel.
func packagesOf(kernel string) ([]debianPackage, error) {
	rows, err := csv.NewReader(strings.NewReader(kernels)).ReadAll()
	if err != nil {
		return nil, err
	}
	var packages []debianPackage
	var names []string
	for _, row := range rows[1:] {
		if row[0] == kernel {
			packages = append(packages, debianPackage{row[1], row[2]})
		}
		names = append(names, row[0])
	}
	if packages == nil {
		return nil, fmt.Errorf("kernel: %q is none of %s", kernel, strings.Join(slices.Compact(names), ", "))
	}
	return packages, nil
}

// kernel is what the lab boots.
type kernel struct {
	image string // file
	hz    int    // ticks per second
}

// fetchKernel returns a kernel of Debian. Its packages are downloaded the first time, and kept in a folder.
func fetchKernel(ctx context.Context, name, mirror, folder string) (*kernel, error) {
	packages, err := packagesOf(name)
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

// fetch returns the file of the package in a folder, downloaded unless it is there.
func (p debianPackage) fetch(ctx context.Context, mirror, folder string) (string, error) {
	file := filepath.Join(folder, path.Base(p.path))
	if got, err := os.ReadFile(file); err == nil && p.check(got) == nil {
		return file, nil
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(mirror, "/")+"/"+p.path, http.NoBody)
	if err != nil {
		return "", err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return "", fmt.Errorf("%s: %s (a mirror drops a version after a while: name one that keeps all, such as a date of snapshot.debian.org, "+
			"with --debian-mirror, or pin a newer one in kernels.csv)", request.URL, response.Status)
	}
	const most = 1 << 28 // bytes
	got, err := io.ReadAll(io.LimitReader(response.Body, most))
	if err == nil {
		err = p.check(got)
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", request.URL, err)
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", err
	}
	return file, os.WriteFile(file, got, 0o644)
}

// check returns an error unless a file is the package.
func (p debianPackage) check(file []byte) error {
	if sum := sha256Of(file); sum != p.sha256 {
		return fmt.Errorf("its SHA-256 is %s, not %s", sum, p.sha256)
	}
	return nil
}

func sha256Of(content []byte) string { return fmt.Sprintf("%x", sha256.Sum256(content)) }

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
