package live

import (
	"net/url"
	"regexp"
	"strings"
	"testing"

	"loadline.dev/loadline/pkg/gauge/usage"
)

// value is what a field of a form sends.
var value = regexp.MustCompile(` value="[^"]*"`)

// The API server lets no such names of pods and nodes be, but what says that it is one may.
func TestHostileNamesAreEscapedOnEveryPage(t *testing.T) {
	t.Parallel()
	for name, hostile := range map[string]string{
		"markup": `<script>alert(1)</script>`, "quotes": `" onload='alert(2)' x="`, "an address": "javascript:alert(3)",
		"marks that turn text around": "a\u202eb\u2066c", "escapes of terminals": "a\x1b]0;b\x07\x9b31m", "the end of a line": "a\r\nSet-Cookie: b=c",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			look := twoTenants(t)
			for i := range look.In.Pods {
				p := &look.In.Pods[i]
				p.Name += hostile
				p.Spec.NodeName += hostile
				p.Spec.Containers[0].Name += hostile
				p.OwnerReferences[0].Name += hostile
			}
			for i := range look.In.Nodes {
				look.In.Nodes[i].Name += hostile
				look.In.Sights[i].Node += hostile
			}
			look.Workloads[0].Name += hostile
			look.Replays[0].Name += hostile
			s := serve(t, look)
			q := url.QueryEscape(hostile)
			for _, who := range []string{"admin", "shop", "shopkeeper", hostile} {
				for _, target := range append([]string{"/pod?namespace=shop&name=cart" + q, "/node?name=node-both" + q, "/?namespace=" + q, "/?q=" + q, "/?above=" + q, "/?at=" + q}, pages...) {
					w := s.get(t, target, usage.TokenHeader, valid(who))
					body, raws := w.Body.String(), []string{"\u202e", "\u2066", "\x1b", "\x07", "\u009b", "\nSet-Cookie"}
					if strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") {
						body = value.ReplaceAllString(body, "") // what a form sends is as it is
						raws = append(raws, "<script>alert", "onload='alert", `href="javascript:`, `action="javascript:`)
					} else if w.Header().Get("Content-Type") != "application/json" || w.Header().Get("X-Content-Type-Options") != "nosniff" {
						t.Errorf("%s answers with %v", target, w.Header())
					}
					for _, raw := range raws {
						if strings.Contains(body, raw) {
							t.Errorf("%s shows %q: %.200q", target, raw, body[max(0, strings.Index(body, raw)-100):])
						}
					}
					if len(w.Result().Cookies()) > 0 {
						t.Errorf("%s sets a cookie", target)
					}
				}
			}
		})
	}
}
