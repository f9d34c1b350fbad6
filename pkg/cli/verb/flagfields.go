package verb

import (
	"errors"
	"strings"

	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// FlagFields are the fields of a manifest that flags set, by their paths, such as spec.seeds, and the flags, such
// as --seeds. A path stands for all fields below it, too, unless one of these is listed itself.
type FlagFields map[string]string

// Named returns an error about fields with the names of the flags that set them in place of the fields.
func (f FlagFields) Named(err error) error {
	if all := utilerrors.Aggregate(nil); errors.As(err, &all) {
		var named []error
		for _, each := range utilerrors.Flatten(all).Errors() {
			named = append(named, f.Named(each))
		}
		return errors.Join(named...)
	}
	wrong, is := errors.AsType[*field.Error](err)
	if !is {
		return err
	}
	flag := f.flagOf(wrong.Field)
	if flag == "" {
		return err
	}
	named := *wrong
	named.Field = flag
	return &named
}

// flagOf returns the flag that said a field, "" if none did.
func (f FlagFields) flagOf(path string) string {
	for at := path; at != ""; at = at[:max(0, strings.LastIndexAny(at, ".["))] {
		if flag, said := f[at]; said {
			return strings.TrimSuffix(flag+": "+strings.TrimPrefix(path[len(at):], "."), ": ")
		}
	}
	return ""
}
