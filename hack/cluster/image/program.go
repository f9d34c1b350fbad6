package image

import (
	"debug/buildinfo"
	"debug/elf"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// program is a static Go program for Linux, and what the go command has written into it.
type program struct {
	path, name string
	platform   v1.Platform
	version    string // of its module, such as "v1.2.3"; "" if it was not built from a checkout
	revision   string // the commit; likewise
	created    time.Time
}

// open reads a program. An error names its path.
func open(path string) (*program, error) {
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return nil, err
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	if settings["GOOS"] != "linux" {
		return nil, fmt.Errorf("%s: it is for %s; containers need a program for linux", path, settings["GOOS"])
	}
	if err := requireStatic(path); err != nil {
		return nil, err
	}
	p := &program{
		path: path, name: filepath.Base(path),
		platform: v1.Platform{OS: settings["GOOS"], Architecture: settings["GOARCH"]},
		version:  info.Main.Version, revision: settings["vcs.revision"],
		created: time.Unix(0, 0).UTC(),
	}
	if p.version == "(devel)" {
		p.version = ""
	}
	if date := settings["vcs.time"]; date != "" {
		if p.created, err = time.Parse(time.RFC3339, date); err != nil {
			return nil, fmt.Errorf("%s: the date of its commit: %w", path, err)
		}
	}
	return p, nil
}

// requireStatic fails for a program that needs a dynamic linker, which an image has not.
func requireStatic(path string) (err error) {
	file, err := elf.Open(path)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	for _, segment := range file.Progs {
		if segment.Type == elf.PT_INTERP {
			return fmt.Errorf("%s: it is not static; build it with CGO_ENABLED=0", path)
		}
	}
	return nil
}

// annotations are what the image says of itself, by the names of the OCI image specification.
func (p *program) annotations() map[string]string {
	said := map[string]string{
		"title":         p.name,
		"version":       p.version,
		"revision":      p.revision,
		"created":       p.created.Format(time.RFC3339),
		"source":        "https://loadline.dev/loadline",
		"documentation": "https://loadline.dev/docs",
		"licenses":      "Apache-2.0",
	}
	annotations := map[string]string{}
	for key, value := range said {
		if value != "" {
			annotations["org.opencontainers.image."+key] = value
		}
	}
	return annotations
}
