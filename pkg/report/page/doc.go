// Package page writes pages of HTML: texts, tables, charts, bars, tiles and cards of things to do, in one look, light and dark, for
// screens from 390 pixels on and for print, for the keyboard, and for screen readers.
//
// [Encode] writes a file that is complete in itself, and [Write] puts it on disk:
//
//	err := page.Write("week.html", page.Page{
//		Title:    "Last week under four policies",
//		Summary:  "Least dilation finishes 17.7% sooner than round robin.",
//		Sections: []page.Section{{Title: "Results", Table: t, Charts: []chart.Chart{makespans}}},
//	})
//
// A [Site] writes the same pages for a server: with links between them, with forms, and with the script that keeps what is shown up to date.
// [Asset] returns the files that such pages load. Those of others are in the folder assets with their licences.
//
// What comes from outside is text: no field of a page holds markup, and addresses of links are made by the caller from escaped parts.
package page
