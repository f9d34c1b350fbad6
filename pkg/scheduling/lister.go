package scheduling

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Lister lists objects of a cluster.
type Lister struct {
	client.Reader

	// Unlisted is told the error of objects that may not be listed, or of one that cannot be read, and what is not known without them, a
	// sentence without its end. Its own error ends the listing. Without it, each is an error.
	Unlisted func(err error, unknown string) error
}

// list lists objects, none of a kind that is not installed or may not be listed.
func (l *Lister) list(ctx context.Context, list client.ObjectList, what, unknown string, options ...client.ListOption) error {
	err := l.List(ctx, list, options...)
	switch {
	case err == nil, meta.IsNoMatchError(err), apierrors.IsNotFound(err):
		return nil
	case apierrors.IsForbidden(err) && l.Unlisted != nil:
		return l.Unlisted(err, unknown)
	default:
		return fmt.Errorf("listing %s: %w", what, err)
	}
}
