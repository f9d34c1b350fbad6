package usage

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/util/validation"
)

// The lengths of identities in bytes: a pod has a UUID of 36, or as a static pod the 32 hexadecimal digits of the kubelet's hash
// of its manifest; runtimes name containers by 64 hexadecimal digits.
const (
	maxUID         = 64
	maxContainerID = 128
)

// IsUID reports whether a text may be the UID of a pod: from 1 to 64 letters, digits and dashes. A static pod may have any UID that
// its manifest says; other characters would not be found again in the names of its control groups.
func IsUID(text string) bool { return consistsOf(text, maxUID, "-") }

// IsContainerID reports whether a text may be the ID of a container: from 1 to 128 letters, digits, dots, dashes and underscores.
func IsContainerID(text string) bool { return consistsOf(text, maxContainerID, "-_.") }

// consistsOf reports whether a text is neither empty nor too long, and has only letters and digits of ASCII, and some others.
func consistsOf(text string, longest int, others string) bool {
	for i := range len(text) {
		c := text[i]
		if (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && strings.IndexByte(others, c) < 0 {
			return false
		}
	}
	return text != "" && len(text) <= longest
}

// IsPodName reports whether a pod of a namespace may have a name, by the rules of the API server.
func IsPodName(namespace, name string) bool {
	return len(validation.IsDNS1123Label(namespace)) == 0 && len(validation.IsDNS1123Subdomain(name)) == 0
}

func (p *Pod) validateIdentity() error {
	switch {
	case p.UID == "":
		return errors.New("uid: is empty")
	case !IsUID(p.UID):
		return fmt.Errorf("uid: %.64q is not from 1 to %d letters, digits and dashes", p.UID, maxUID)
	case p.Namespace == "" && p.Name == "": // not known yet
		return nil
	case !IsPodName(p.Namespace, p.Name):
		return fmt.Errorf("name: %.64q in namespace %.64q is not the name of a pod (a DNS subdomain and a DNS label, by RFC 1123)", p.Name, p.Namespace)
	}
	return nil
}

func nodeName(name string) error {
	switch {
	case name == "":
		return errors.New("node: is empty")
	case len(validation.IsDNS1123Subdomain(name)) > 0:
		return fmt.Errorf("node: %.64q is not the name of a node (a DNS subdomain, by RFC 1123)", name)
	}
	return nil
}

// MaxExcerpt is how long an excerpt is at most, in bytes.
const MaxExcerpt = 300

// Excerpt returns a printable excerpt of a text that a node sent: one line without anything that a terminal would obey, cut at
// [MaxExcerpt] bytes. The excerpt of an excerpt is the same.
func Excerpt(text string) string {
	const more = "…"
	var b strings.Builder
	for _, r := range text {
		shown := string(r)
		if !unicode.IsPrint(r) {
			quoted := strconv.QuoteRune(r)
			shown = quoted[1 : len(quoted)-1]
		}
		if b.Len()+len(shown) > MaxExcerpt-len(more) {
			return b.String() + more
		}
		b.WriteString(shown)
	}
	return b.String()
}
