// Package docs tests what the documentation says: README.md, docs/**/*.md and the other pages of the root.
//
//   - Every command block is run. What cannot be, because it takes nodes that run pods, a machine, or minutes, is checked
//     (do its files, flags, make targets exist?) and stands in a list with the reason: see the lists checks, elsewhere
//     and placeholders. A command that nothing is known about fails the test, so nothing is left out unseen.
//   - What stands below a command behind a prompt is what it prints, but for times, and for lines that are an ellipsis.
//   - Blocks of YAML decode strictly as their kinds, and the API server accepts them. Other blocks are in the list others.
//   - Links lead to files, and anchors to headings, that exist.
//   - The table of docs/architecture.md that says where to add what names all that the last such addition touched.
//   - The rights that docs/security.md explains are those that the manager has.
//
// Commands that need a cluster run on a control plane with nodes that kwok plays.
package docs
