package page

import (
	"embed"
	"io"
	"path"
)

// Site is what the pages of a server have besides what they show. Addresses are relative: a site works below any path.
type Site struct {
	// Links lead to the pages of the site.
	Links []SiteLink
	// Filter narrows what is shown; nil for a page that has nothing to narrow.
	Filter *Form
	// Events is the address of the server-sent events that say that there is something new, empty for a page that does not change.
	Events string
	// Moment says which moment is shown: when it was looked at, as RFC 3339 writes it, and after a space what else tells it from others of
	// the same time. Cluster names what it is of.
	Moment, Cluster string
	// Problem says that what is shown is stale, and why; may be empty.
	Problem string
}

// SiteLink is a link to a page.
type SiteLink struct {
	Text, To string
	Here     bool
}

// Encode writes a page of the site to w.
func (s *Site) Encode(w io.Writer, p Page) error { return encode(w, p, s) }

// assets are the files that the pages of a site load.
//
//go:embed assets
var assets embed.FS

// assetTypes are the media types of assets by their extensions.
var assetTypes = map[string]string{".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8"}

// Asset returns a file that the pages of a site load from the folder assets, by its name, and its media type; none for another name.
func Asset(name string) (content []byte, mediaType string) {
	mediaType = assetTypes[path.Ext(name)]
	if mediaType == "" || path.Base(name) != name {
		return nil, ""
	}
	if name == "style.css" {
		return []byte(stylesheet), mediaType
	}
	content, err := assets.ReadFile("assets/" + name)
	if err != nil {
		return nil, ""
	}
	return content, mediaType
}
