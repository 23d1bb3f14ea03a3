// Package view makes a page of results: one HTML file that shows what ran, what it waited for,
// and where, or the same page from a server on this computer.
//
// A page has three parts: the program that shows it (web, in TypeScript; bundled by package
// bundle and committed as page.js and page.css), the results in packed form (pack.go), and the
// texts of their programs (sources.go). It sends no request: everything is in the file, and its
// content security policy forbids the rest. What results contain is only ever set as text.
//
// The page computes no findings and no counters; it divides, sorts and draws what the result
// has.
package view

//go:generate go run -tags bundle ./bundle
