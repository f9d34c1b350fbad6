package main

import (
	"context"
	"crypto/sha256"
	"encoding/csv"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// defaultMirror is Debian's own address, which leads to a mirror nearby.
const defaultMirror = "http://deb.debian.org/debian"

// debianPackage is a package in the pool of a mirror.
type debianPackage struct{ path, sha256 string }

// packagesOf returns those that a table, kernels.csv or its like, has of a thing.
func packagesOf(table, thing string) ([]debianPackage, error) {
	rows, err := csv.NewReader(strings.NewReader(table)).ReadAll()
	if err != nil {
		return nil, err
	}
	var packages []debianPackage
	var things []string
	for _, row := range rows[1:] {
		if row[0] == thing {
			packages = append(packages, debianPackage{row[1], row[2]})
		}
		things = append(things, row[0])
	}
	if packages == nil {
		return nil, fmt.Errorf("%s: %q is none of %s", rows[0][0], thing, strings.Join(slices.Compact(things), ", "))
	}
	return packages, nil
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
			"with --debian-mirror, or pin a newer one)", request.URL, response.Status)
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
