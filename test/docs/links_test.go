package docs

import (
	"path"
	"slices"
	"strings"
	"testing"

	"loadline.dev/loadline/test/docs/page"
)

func TestLinksLeadSomewhere(t *testing.T) {
	t.Parallel()
	for _, p := range pages {
		for _, link := range p.Links {
			if strings.Contains(link.Target, "://") {
				continue // another site: not ours to keep
			}
			if why := broken(p, link.Target); why != "" {
				t.Errorf("%s: the link to %s: %s", at(p, link.Line), link.Target, why)
			}
		}
	}
}

// broken says what is wrong with a link of a page, "" if nothing is.
func broken(p *page.Page, target string) string {
	file, anchor, hasAnchor := strings.Cut(target, "#")
	goal := p
	if file != "" {
		to := path.Join(path.Dir(p.Path), file)
		if !exists(to) {
			return "there is no " + to
		}
		goal = pageAt(to)
		if other, err := page.Read(root, to); goal == nil && err == nil && strings.HasSuffix(to, ".md") {
			goal = other
		}
	}
	switch {
	case !hasAnchor:
		return ""
	case goal == nil:
		return "only pages have anchors"
	case !goal.Anchors[anchor]:
		return goal.Path + " has no heading of that name"
	default:
		return ""
	}
}

// Every page can be reached from docs/README.md or README.md.
func TestEveryPageCanBeFound(t *testing.T) {
	t.Parallel()
	found := []string{"README.md"}
	for next := 0; next < len(found); next++ {
		p := pageAt(found[next])
		if p == nil {
			continue
		}
		for _, link := range p.Links {
			file, _, _ := strings.Cut(link.Target, "#")
			to := path.Join(path.Dir(p.Path), file)
			if strings.HasSuffix(file, ".md") && !strings.Contains(file, "://") && !slices.Contains(found, to) {
				found = append(found, to)
			}
		}
	}
	for _, p := range pages {
		if strings.HasPrefix(p.Path, "docs/") && !slices.Contains(found, p.Path) {
			t.Errorf("no page that README.md leads to links to %s", p.Path)
		}
	}
}
