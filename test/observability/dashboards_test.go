package observability

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// minSchemaVersion is that of Grafana 11, the oldest that is looked after.
const minSchemaVersion = 39

func TestDashboardsAreWhole(t *testing.T) {
	t.Parallel()
	uids, titles := map[string]bool{}, map[string]bool{}
	for _, d := range dashboards(t) {
		if d.UID == "" || uids[d.UID] || d.Title == "" || titles[d.Title] {
			t.Errorf("%s: the uid %q or the title %q is empty or that of another dashboard", d.file, d.UID, d.Title)
		}
		uids[d.UID], titles[d.Title] = true, true
		if d.file != d.UID+".json" {
			t.Errorf("%s: the file of uid %s should be %[2]s.json", d.file, d.UID)
		}
		if d.Description == "" || !slices.Contains(d.Tags, "loadline") || d.SchemaVersion < minSchemaVersion {
			t.Errorf("%s: it needs a description, the tag loadline and a schemaVersion of at least %d", d.file, minSchemaVersion)
		}
		if list := d.Templating.List; len(list) != 1 || list[0].Name != "datasource" || list[0].Type != "datasource" || list[0].Query != "prometheus" {
			t.Errorf("%s: its only variable should be the data source, got %+v", d.file, list)
		}
		checkPanels(t, &d)
	}
}

// checkPanels checks that the panels of a dashboard say what they show, in which
// unit, and are beside each other.
func checkPanels(t *testing.T, d *dashboard) {
	t.Helper()
	ids, cells := map[int]bool{}, map[string]string{}
	for _, p := range d.Panels {
		where := fmt.Sprintf("%s, panel %q", d.file, p.Title)
		if ids[p.ID] {
			t.Errorf("%s: its id %d is that of another", where, p.ID)
		}
		ids[p.ID] = true
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				cell := fmt.Sprint(x, " ", y)
				if other, taken := cells[cell]; taken || x > 23 {
					t.Fatalf("%s: it lies over %q or beyond the 24 columns", where, other)
				}
				cells[cell] = p.Title
			}
		}
		if p.Type == row {
			continue
		}
		variable := source{Type: "prometheus", UID: "${datasource}"}
		if p.Title == "" || !strings.HasSuffix(p.Description, ".") || p.Datasource != variable || len(p.Targets) == 0 {
			t.Errorf("%s: it needs a title, a sentence that describes it, the data source of the variable, and queries", where)
		}
		if p.Type != "table" && p.FieldConfig.Defaults.Unit == "" {
			t.Errorf("%s: it has no unit", where)
		}
		for _, q := range p.Targets {
			if q.Expr == "" || q.Datasource != variable || q.Instant == q.Range {
				t.Errorf("%s, query %s: it needs an expression, the data source of the variable, and to be either instant or a range", where, q.RefID)
			}
		}
	}
}
