package image

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// user is the user id, and group id, that programs run as: distroless' "nonroot".
const user = 65532

// binDir is where the program is, and all of PATH.
const binDir = "/usr/local/bin"

// Write writes the archive of an image that runs the static program at the path binary, as PATH knows it by its file
// name. reference is what pods call the image, for example "loadline/loadline-probe:dev".
func Write(w io.Writer, reference, binary string) error {
	tag, err := name.NewTag(reference)
	if err != nil {
		return err
	}
	p, err := open(binary)
	if err != nil {
		return fmt.Errorf("image %s: %w", reference, err)
	}
	img, err := p.image()
	if err != nil {
		return fmt.Errorf("image %s: %w", reference, err)
	}
	return tarball.Write(tag, img, w)
}

// image returns the image of a program.
func (p *program) image() (v1.Image, error) {
	layer, err := p.layer()
	if err != nil {
		return nil, err
	}
	empty := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	img, err := mutate.ConfigFile(empty, p.config())
	if err != nil {
		return nil, err
	}
	img, err = mutate.Append(img, mutate.Addendum{
		Layer:   layer,
		History: v1.History{Created: v1.Time{Time: p.created}, CreatedBy: "loadline.dev/loadline/hack/cluster/image"},
	})
	if err != nil {
		return nil, err
	}
	annotated, ok := mutate.Annotations(img, p.annotations()).(v1.Image)
	if !ok {
		return nil, fmt.Errorf("annotating an image gave a %T", annotated)
	}
	return annotated, nil
}

// config is how to run the program. Labels repeat the annotations, for tools that show only labels.
func (p *program) config() *v1.ConfigFile {
	return &v1.ConfigFile{
		Architecture: p.platform.Architecture, OS: p.platform.OS, Created: v1.Time{Time: p.created},
		RootFS: v1.RootFS{Type: "layers"},
		Config: v1.Config{
			User:       fmt.Sprintf("%[1]d:%[1]d", user),
			Env:        []string{"PATH=" + binDir},
			Entrypoint: []string{path.Join(binDir, p.name)},
			WorkingDir: "/",
			Labels:     p.annotations(),
		},
	}
}

// layer returns all files of the image, compressed a little: speed matters more than size to who tries things locally.
func (p *program) layer() (v1.Layer, error) {
	files, err := p.files()
	if err != nil {
		return nil, err
	}
	opener := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(files)), nil }
	return tarball.LayerFromOpener(opener,
		tarball.WithMediaType(types.OCILayer), tarball.WithCompressionLevel(gzip.BestSpeed), tarball.WithCompressedCaching)
}

// files returns the archive of all files in the image.
func (p *program) files() ([]byte, error) {
	content, err := os.ReadFile(p.path)
	if err != nil {
		return nil, err
	}
	account := fmt.Appendf(nil, "root:x:0:0:root:/:\nnonroot:x:%[1]d:%[1]d:nonroot:/tmp:\n", user)
	group := fmt.Appendf(nil, "root:x:0:\nnonroot:x:%d:\n", user)

	var files bytes.Buffer
	archive := tar.NewWriter(&files)
	for _, file := range []struct {
		header  tar.Header
		content []byte
	}{
		{tar.Header{Name: "etc/", Mode: 0o755}, nil},
		{tar.Header{Name: "etc/passwd", Mode: 0o644}, account},
		{tar.Header{Name: "etc/group", Mode: 0o644}, group},
		{tar.Header{Name: "tmp/", Mode: 0o1777}, nil},
		{tar.Header{Name: "usr/", Mode: 0o755}, nil},
		{tar.Header{Name: "usr/local/", Mode: 0o755}, nil},
		{tar.Header{Name: "usr/local/bin/", Mode: 0o755}, nil},
		{tar.Header{Name: path.Join("usr/local/bin", p.name), Mode: 0o755}, content},
	} {
		if err := add(archive, file.header, file.content); err != nil {
			return nil, err
		}
	}
	err = archive.Close() // it writes the end of the archive
	return files.Bytes(), err
}

// add writes a file, or a folder when its name ends with a slash, of root and of no date.
func add(archive *tar.Writer, header tar.Header, content []byte) error {
	header.Typeflag = tar.TypeReg
	if header.Name[len(header.Name)-1] == '/' {
		header.Typeflag = tar.TypeDir
	}
	header.Size = int64(len(content))
	if err := archive.WriteHeader(&header); err != nil {
		return err
	}
	_, err := archive.Write(content)
	return err
}
