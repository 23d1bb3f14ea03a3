//go:build bundle

// Command bundle makes page.js and page.css from web with esbuild. It needs neither node nor
// network: the libraries that the page uses are in web/vendor.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/evanw/esbuild/pkg/api"
)

func main() {
	files, err := build("web")
	for name, text := range files {
		if err == nil {
			err = os.WriteFile(name, text, 0o666)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// build returns the bundle of the program in a folder, by the name of the file.
func build(dir string) (map[string][]byte, error) {
	root, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	vendor := func(path string) string { return filepath.Join(root, "vendor", path) }
	r := api.Build(api.BuildOptions{
		AbsWorkingDir: root,
		EntryPoints:   []string{"main.tsx"},
		Outdir:        "out",
		Bundle:        true,
		Format:        api.FormatIIFE,
		Target:        api.ES2022,
		Charset:       api.CharsetUTF8,
		LegalComments: api.LegalCommentsInline,
		JSX:           api.JSXTransform, JSXFactory: "h", JSXFragment: "Fragment",
		Alias: map[string]string{
			"preact": vendor("preact/preact.mjs"), "preact/hooks": vendor("preact/hooks.mjs"),
			"uplot": vendor("uplot/uPlot.esm.js"), "uplot/css": vendor("uplot/uPlot.min.css"),
		},
		MinifyWhitespace: true, MinifyIdentifiers: true, MinifySyntax: true,
		TsconfigRaw: `{"compilerOptions":{"target":"ES2022","useDefineForClassFields":true}}`,
	})
	if len(r.Errors) > 0 {
		var errs []error
		for _, m := range api.FormatMessages(r.Errors, api.FormatMessagesOptions{}) {
			errs = append(errs, errors.New(m))
		}
		return nil, errors.Join(errs...)
	}
	files := map[string][]byte{}
	for _, f := range r.OutputFiles {
		files["page"+filepath.Ext(f.Path)] = f.Contents
	}
	return files, nil
}
