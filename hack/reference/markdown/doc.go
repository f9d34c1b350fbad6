// Package markdown writes pages of GitHub's Markdown: text that shows as it stands,
// tables, and pages with a table of contents. What it returns it does not check again:
// give Escape, Prose and Cell plain text, and Page and Table what those return.
package markdown
