package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/openvex/go-vex/pkg/vex"
	"github.com/package-url/packageurl-go"
	"sigs.k8s.io/yaml"
)

// module is the package URL of Loadline, without a version.
const module = "pkg:golang/loadline.dev/loadline"

// parse reads a list of statements, and checks each.
func parse(content []byte) ([]vex.Statement, error) {
	var list struct {
		Statements []vex.Statement `json:"statements"`
	}
	if err := yaml.UnmarshalStrict(content, &list); err != nil {
		return nil, err
	}
	for i := range list.Statements {
		if err := validate(&list.Statements[i]); err != nil {
			return nil, fmt.Errorf("statements[%d]: %w", i, err)
		}
	}
	return list.Statements, nil
}

// validate checks what OpenVEX asks of a statement, and what a scanner needs to find it.
func validate(s *vex.Statement) error {
	if s.Vulnerability.Name == "" {
		return errors.New("vulnerability.name: is missing, want a name such as CVE-2026-12345")
	}
	if len(s.Products) == 0 {
		return errors.New("products: want one at least")
	}
	for i, product := range s.Products {
		if err := validateProduct(product.ID); err != nil {
			return fmt.Errorf(`products[%d]["@id"]: %w`, i, err)
		}
		for j, part := range product.Subcomponents {
			if _, err := packageurl.FromString(part.ID); err != nil {
				return fmt.Errorf(`products[%d].subcomponents[%d]["@id"]: %q: %w`, i, j, part.ID, err)
			}
		}
	}
	if err := s.Validate(); err != nil {
		return err
	}
	// OpenVEX takes an explanation in its place, which no scanner understands.
	if s.Status == vex.StatusNotAffected && s.Justification == "" {
		return fmt.Errorf("justification: is missing, want one of %s", strings.Join(vex.Justifications(), ", "))
	}
	return nil
}

// validateProduct checks that a product is the module or one of its programs; the release has the version.
func validateProduct(id string) error {
	url, err := packageurl.FromString(id)
	if err != nil {
		return fmt.Errorf("%q: %w", id, err)
	}
	program, isProgram := strings.CutPrefix(url.Subpath, "cmd/")
	url.Subpath = ""
	if url.ToString() != module || id != module && (!isProgram || program == "" || strings.Contains(program, "/")) {
		return fmt.Errorf("%q is neither %s nor %s#cmd/PROGRAM, without a version", id, module, module)
	}
	return nil
}

// about returns the document about a release: statements about products of no version are about that release's.
func about(version string, made time.Time, statements []vex.Statement) (*vex.VEX, error) {
	if version == "" {
		return nil, errors.New("VERSION: is empty")
	}
	document := vex.New()
	document.ID = "https://loadline.dev/vex/" + version
	document.Author = "Loadline"
	document.AuthorRole = "maintainers"
	document.Timestamp = &made
	for _, s := range statements {
		s.Products = slices.Clone(s.Products)
		for i := range s.Products {
			url, err := packageurl.FromString(s.Products[i].ID)
			if err != nil {
				return nil, err
			}
			url.Version = version
			s.Products[i].ID = url.ToString()
		}
		document.Statements = append(document.Statements, s)
	}
	return &document, nil
}
