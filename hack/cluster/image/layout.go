package image

import (
	"archive/tar"
	"errors"
	"fmt"
	"os"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// WriteLayout writes the images of one program, built for one or several platforms, as an OCI layout into the folder
// dir, in place of what was there. It returns the digest that the image then has in every registry. The programs must
// come from one commit and be for different platforms.
func WriteLayout(dir string, binaries ...string) (digest string, err error) {
	index, err := indexOf(binaries)
	if err != nil {
		return "", fmt.Errorf("layout %s: %w", dir, err)
	}
	if err := os.RemoveAll(dir); err != nil {
		return "", err
	}
	// A layout lists images; this one has one, whose index lists platforms.
	images := mutate.AppendManifests(mutate.IndexMediaType(empty.Index, types.OCIImageIndex), mutate.IndexAddendum{Add: index})
	if _, err := layout.Write(dir, images); err != nil {
		return "", fmt.Errorf("layout %s: %w", dir, err)
	}
	hash, err := index.Digest()
	return hash.String(), err
}

// PackLayout packs an OCI layout, such as [WriteLayout] writes, into an archive at path.
func PackLayout(path, dir string) error {
	if _, err := layout.FromPath(dir); err != nil {
		return fmt.Errorf("%s is no layout of an image: %w", dir, err)
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	archive := tar.NewWriter(file)
	return errors.Join(archive.AddFS(os.DirFS(dir)), archive.Close(), file.Close())
}

// indexOf returns the image of a program for all platforms.
func indexOf(binaries []string) (v1.ImageIndex, error) {
	if len(binaries) == 0 {
		return nil, errors.New("there is no program to make an image of")
	}
	programs := make([]*program, len(binaries))
	var images []mutate.IndexAddendum
	for i, binary := range binaries {
		p, err := open(binary)
		if err != nil {
			return nil, err
		}
		for _, other := range programs[:i] {
			if err := fit(other, p); err != nil {
				return nil, err
			}
		}
		img, err := p.image()
		if err != nil {
			return nil, err
		}
		programs[i] = p
		images = append(images, mutate.IndexAddendum{Add: img, Descriptor: v1.Descriptor{Platform: &p.platform}})
	}
	index := mutate.AppendManifests(mutate.IndexMediaType(empty.Index, types.OCIImageIndex), images...)
	annotated, ok := mutate.Annotations(index, programs[0].annotations()).(v1.ImageIndex)
	if !ok {
		return nil, fmt.Errorf("annotating an index gave a %T", annotated)
	}
	return annotated, nil
}

// fit reports whether two programs can be in one image.
func fit(a, b *program) error {
	switch {
	case a.name != b.name:
		return fmt.Errorf("%s and %s are different programs", a.path, b.path)
	case a.platform.Equals(b.platform):
		return fmt.Errorf("%s and %s are both for %s", a.path, b.path, a.platform)
	case a.version != b.version || a.revision != b.revision:
		return fmt.Errorf("%s is of %s %s, %s of %s %s; build both from one commit", a.path, a.version, a.revision, b.path, b.version, b.revision)
	}
	return nil
}
