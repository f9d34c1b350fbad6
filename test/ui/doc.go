// Package ui opens the pages of kubectl loadline ui and of its reports in a real browser, Chromium: in light and dark, on a wide screen and
// on one of 390 pixels, by keyboard alone, and checked for accessibility by axe-core, which is in testdata with its licence.
package ui
