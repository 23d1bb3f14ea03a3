package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/internal/work/cuda/sdk"
)

// ccCall is a parsed command line of cc.
type ccCall struct {
	help, version     bool
	toolkit           bool // only print the toolkit's folder
	show, dry         bool // print the steps; do not execute them
	run               bool // run the program at once
	compile, ptx, rdc bool
	fatbin            bool              // pack the PTX
	sass              bool              // compile the PTX to a listing
	ptxas             []string          // options of that
	anyArch           bool              // an architecture of our choice
	look              bool              // clang only inspects the sources: -E, -M and similar flags
	dlink             bool              // only the object that joins the kernels of others
	out               string            // a file
	dir               string            // for outputs without a name
	language          string            // language of the sources that follow, if -x is given
	languages         map[string]string // language by source name, regardless of its ending
	archs             []string          // sm_XX
	files             []string          // sources, objects, libraries, in order
	flags             []string          // for clang, when compiling and linking
	host              []string          // for clang, when compiling host code and linking
	link              []string          // for clang, when linking
	overlay           string            // a file through which clang reads sources in another spelling
}

// dropped are flags of nvcc that have no meaning here; those with true take a
// value, as the next argument or after an equals sign.
var dropped = map[string]bool{
	"-cudart": true, "--cudart": true, "-ccbin": true, "--compiler-bindir": true,
	"-Xnvlink": true, "-Xcudafe": true, "--threads": true, "-t": true, "-diag-suppress": true,
	"--diag-suppress": true, "-lcudart": false, "-lcudart_static": false, "-lcudadevrt": false, "--expt-relaxed-constexpr": false,
	"-expt-relaxed-constexpr": false, "--expt-extended-lambda": false, "-expt-extended-lambda": false, "--extended-lambda": false,
	"-extended-lambda": false, "--relocatable-device-code=false": false, "-rdc=false": false, "--keep": false, "-keep": false,
	"-restrict": false, "--restrict": false, "-m64": false, "--resource-usage": false, "-res-usage": false, "--no-align-double": false,
	"--compile-as-tools-patch": false, "-Wno-deprecated-gpu-targets": false, "-use-local-env": false,
	"-forward-unknown-to-host-compiler": false, "--forward-unknown-to-host-compiler": false, "-forward-unknown-opts": false,
	"-allow-unsupported-compiler": false, "--allow-unsupported-compiler": false, "-src-in-ptx": false, "--source-in-ptx": false,
	"-extra-device-vectorization": false, "--extra-device-vectorization": false, "-dlto": false, "--dlink-time-opt": false,
	"-nvlink-options": true, "--nvlink-options": true, "-keep-dir": true, "--keep-dir": true,
	"-clean-targets": false, "-m": true, "--machine": true, "-cudadevrt": true, "--cudadevrt": true, "-diag-error": true, "--diag-error": true,
	"-diag-warn": true, "--diag-warn": true, "-Xfatbin": true, "--fatbin-options": true, "-compress-mode": true, "--compress-mode": true,
	"--Wno-deprecated-gpu-targets": false, "-split-compile": true, "--split-compile": true,
}

// threads matches nvcc's -t with its number in the same word.
var threads = regexp.MustCompile(`^-t\d+$`)

// hostOnly matches flags of -Xcompiler that nvcc does not apply to kernels: those
// of code generation. The host's compiler is also nvcc's preprocessor, so macros,
// folders and languages apply to both.
var hostOnly = regexp.MustCompile(`^(-O|-flto|-ffp-|-f(no-)?(fast-math|finite-math-only|unsafe-math-optimizations|associative-math|reciprocal-math|signed-zeros|math-errno|rounding-math|honor-nans|honor-infinities|approx-func|trapping-math))`)

// nvccErrors matches the values of nvcc's -Werror.
var nvccErrors = regexp.MustCompile(`^(all-warnings|cross-execution-space-call|reorder|default-stream-launch|missing-launch-bounds|ext-lambda-captures-this|deprecated-declarations)(,|$)`)

// switches are the flags without a value that have a meaning of their own here.
var switches = map[string]func(*ccCall){
	"--help": func(c *ccCall) { c.help = true }, "-h": func(c *ccCall) { c.help = true },
	"--version": func(c *ccCall) { c.version = true },
	"--toolkit": func(c *ccCall) { c.toolkit = true },
	"--show":    func(c *ccCall) { c.show = true }, "--verbose": func(c *ccCall) { c.show = true }, "-v": func(c *ccCall) { c.show = true },
	"--run": func(c *ccCall) { c.run = true }, "-run": func(c *ccCall) { c.run = true },
	"--dryrun":  func(c *ccCall) { c.show, c.dry = true, true },
	"-c":        func(c *ccCall) { c.compile = true },
	"-dc":       func(c *ccCall) { c.compile, c.rdc = true, true },
	"--ptx":     func(c *ccCall) { c.ptx = true },
	"--sass":    func(c *ccCall) { c.ptx, c.sass = true, true },
	"--fatbin":  func(c *ccCall) { c.ptx, c.fatbin = true, true },
	"-dlink":    func(c *ccCall) { c.dlink = true },
	"-fgpu-rdc": func(c *ccCall) { c.rdc = true },
}

// looks are the flags with which clang only reads sources.
var looks = []string{"-M", "-MM", "-E", "-S", "-fsyntax-only"}

// valued are the flags with a value that has a meaning of its own here.
var valued = map[string]func(c *ccCall, flag, value string) error{
	"-odir": (*ccCall).named, "-x": (*ccCall).named, "--default-stream": (*ccCall).named,
	"-arch": (*ccCall).arch, "--cuda-gpu-arch": (*ccCall).arch, "--offload-arch": (*ccCall).arch,
	"-gencode": func(c *ccCall, flag, value string) error {
		value, _, _ = strings.Cut(value, ",code") // arch=compute_XX
		return c.arch(flag, value)
	},
	"-maxrregcount": (*ccCall).forPtxas, "--maxrregcount": (*ccCall).forPtxas, "-Xptxas": (*ccCall).forPtxas, "--ptxas-options": (*ccCall).forPtxas,
	"-code": func(*ccCall, string, string) error { return nil }, // the architecture of the PTX decides
	"-rdc": func(c *ccCall, _, value string) error {
		c.rdc = c.rdc || value != "false"
		return nil
	},
	"-o": func(c *ccCall, _, value string) error {
		c.out = value
		return nil
	},
	"-Xcompiler": func(c *ccCall, _, value string) error {
		for _, word := range shellWords(strings.ReplaceAll(value, ",", " ")) {
			if hostOnly.MatchString(word) {
				c.host = append(c.host, word)
			} else {
				c.flags = append(c.flags, word)
			}
		}
		return nil
	},
	"-Xlinker": func(c *ccCall, _, value string) error {
		for word := range strings.SplitSeq(value, ",") {
			c.link = append(c.link, "-Xlinker", word)
		}
		return nil
	},
}

// ccParser is the state of parseCC.
type ccParser struct {
	*ccCall
	args []string // those that follow the current one
	// The current argument, by nvcc's short name, and its parts if it has an equals
	// sign.
	arg, name, value string
	joined           bool
	// An -x was there, and the number of files before it: for nvcc it applies to them
	// too.
	spoken bool
	bare   int
}

// parseCC parses a command line.
func parseCC(args []string) (*ccCall, error) {
	args, err := withOptionFiles(args, 0)
	if err != nil {
		return nil, err
	}
	p := &ccParser{ccCall: &ccCall{languages: map[string]string{}}, args: args}
	for len(p.args) > 0 {
		if err := p.argument(); err != nil {
			return nil, err
		}
	}
	c := p.ccCall
	for _, file := range c.files[:p.bare] {
		if !slices.Contains([]string{".o", ".a", ".so"}, filepath.Ext(file)) {
			c.languages[file] = c.language
		}
	}
	if c.anyArch || len(c.archs) == 0 {
		arch := defaultArch
		if c.sass {
			arch = listedArch
		}
		if !slices.Contains(c.archs, arch) {
			c.archs = append(c.archs, arch)
		}
	}
	if err := c.checkOutput(); err != nil {
		return nil, err
	}
	return c, nil
}

// next returns the value of the current flag.
func (p *ccParser) next() (string, error) {
	if p.joined {
		return p.value, nil
	}
	if len(p.args) == 0 {
		return "", usage("cc: %s: a value is missing", p.arg)
	}
	v := p.args[0]
	p.args = p.args[1:]
	return v, nil
}

// argument parses the next argument, with its value.
func (p *ccParser) argument() error {
	p.arg, p.args = p.args[0], p.args[1:]
	p.name, p.value, p.joined = strings.Cut(p.arg, "=")
	short := sdk.ShortFlag(p.name)
	p.arg, p.name = short+p.arg[len(p.name):], short
	if sdk.IsYesOrNo(p.name) && !p.joined {
		v, err := p.next()
		if err != nil {
			return err
		}
		p.arg = p.name + "=" + v
	}
	if to, ok := sdk.ClangFlag(p.arg); ok {
		p.flags = append(p.flags, to...)
		return nil
	}
	if more, ok := dropped[p.name]; ok {
		if more && !p.joined {
			_, err := p.next()
			return err
		}
		return nil
	}
	if _, ok := dropped[p.arg]; ok || threads.MatchString(p.arg) {
		return nil
	}
	if set, ok := switches[p.arg]; ok {
		set(p.ccCall)
		return nil
	}
	if set, ok := valued[p.name]; ok {
		v, err := p.next()
		if err != nil {
			return err
		}
		if p.name == "-x" && !p.spoken {
			p.spoken, p.bare = true, len(p.files)
		}
		return set(p.ccCall, p.name, v)
	}
	return p.forClang()
}

// forClang parses an argument that clang understands, and files.
func (p *ccParser) forClang() error {
	arg, name := p.arg, p.name
	switch {
	case slices.Contains(looks, arg):
		p.look = true
		p.flags = append(p.flags, arg)
	case name == "-Werror":
		return p.werror()
	case arg == "-L" || arg == "-l":
		v, err := p.next()
		if err != nil {
			return err
		}
		p.link = append(p.link, arg, v)
	case sdk.HasValue(arg), p.joined && slices.Contains([]string{"-isystem", "-include", "-MF", "-MT", "-MQ"}, name):
		v, err := p.next()
		if err != nil {
			return err
		}
		p.flags = append(p.flags, name, v)
	case arg == "-std" || arg == "-O":
		v, err := p.next()
		if err != nil {
			return err
		}
		p.flags = append(p.flags, map[string]string{"-std": "-std=", "-O": "-O"}[arg]+v)
	case p.joined && slices.Contains([]string{"-I", "-D", "-U", "-L", "-l", "-O"}, name):
		p.add(name + p.value)
	case strings.HasPrefix(arg, "-") && arg != "-":
		p.add(arg)
	default:
		p.files = append(p.files, arg)
		if p.language != "" {
			p.languages[arg] = p.language
		}
	}
	return nil
}

// werror parses -Werror, which is clang's, or nvcc's with the kinds of warnings.
func (p *ccParser) werror() error {
	if p.joined || len(p.args) > 0 && nvccErrors.MatchString(p.args[0]) {
		value, err := p.next()
		if err != nil {
			return err
		}
		if !strings.Contains(value, "all-warnings") {
			if p.joined && !nvccErrors.MatchString(value) {
				p.add(p.arg) // one of clang's
			}
			return nil
		}
	}
	p.add("-Werror")
	return nil
}

// checkOutput refuses outputs that do not fit the files, and tells a folder from a file.
func (c *ccCall) checkOutput() error {
	if c.ptx && c.out != "" && len(c.files) > 1 {
		return usage("cc: -o names one file, but %d sources give one output each; use -odir", len(c.files))
	}
	if c.ptx && !c.fatbin && len(c.archs) > 1 {
		return usage("cc: --ptx and --sass take one architecture, not %s; use --fatbin for several", strings.Join(c.archs, " "))
	}
	if c.sass && c.fatbin {
		return usage("cc: --sass cannot be combined with --fatbin")
	}
	if c.ptx && c.compile {
		return usage("cc: -c cannot be combined with --ptx, --sass or --fatbin")
	}
	if c.compile && c.out != "" && len(c.files) > 1 && !isFolder(c.out) {
		return usage("cc: -o names one file, but %d are compiled; use -odir for a folder", len(c.files))
	}
	if isFolder(c.out) {
		if c.links() || c.dlink {
			return usage("cc: -o %s is a folder; give a file name", c.out)
		}
		c.out, c.dir = "", c.out
	}
	return nil
}

// isFolder reports whether an output is a folder: it exists as one, or its name
// ends like one.
func isFolder(name string) bool {
	st, err := os.Stat(name)
	return strings.HasSuffix(name, "/") || err == nil && st.IsDir()
}

// named handles a flag with a value that has a meaning of its own here.
func (c *ccCall) named(flag, value string) error {
	switch flag {
	case "-odir":
		c.dir = value
	case "-x":
		c.language = value
		if value == "cu" {
			c.language = "cuda"
		}
		if value == "none" {
			c.language = ""
		}
	case "--default-stream":
		switch value {
		case "per-thread":
			c.flags = append(c.flags, "-DCUDA_API_PER_THREAD_DEFAULT_STREAM=1")
		case "legacy", "null":
		default:
			return usage("cc: %s: unknown value %q; want legacy or per-thread", flag, value)
		}
	}
	return nil
}

// links reports whether the output is a program or a library.
func (c *ccCall) links() bool { return !c.ptx && !c.compile && !c.look && !c.dlink }

// add adds a flag in one word.
func (c *ccCall) add(flag string) {
	if strings.HasPrefix(flag, "-L") || strings.HasPrefix(flag, "-l") || strings.HasPrefix(flag, "-Wl,") {
		// Order matters to the linker: libraries are listed among the files.
		c.link = append(c.link, flag)
		return
	}
	c.flags = append(c.flags, flag)
}

// languages are the languages of sources by file extension, in clang's terms; files
// with other extensions go to the linker.
var languages = map[string]string{".cu": "cuda", ".cpp": "c++", ".cc": "c++", ".cxx": "c++", ".C": "c++", ".c": "c"}

// languageOf returns the language of a source, empty for other files. C sources
// stay C, which a C++ compiler would not do, unless the command line gives a
// standard of C++.
func (c *ccCall) languageOf(file string) string {
	language := c.languages[file]
	if language == "" {
		language = languages[filepath.Ext(file)]
		if language == "c" && slices.ContainsFunc(c.flags, func(f string) bool { return strings.Contains(f, "-std=") && strings.Contains(f, "++") }) {
			language = "c++"
		}
	}
	return language
}

// as returns the call with a file in another language.
func (c *ccCall) as(file, language string) *ccCall {
	call := *c
	call.languages = map[string]string{file: language}
	return &call
}

// splitDependencies separates the flags that make clang write dependencies, which
// only one of several steps does.
func splitDependencies(flags []string) (others, dependencies []string) {
	for i := 0; i < len(flags); i++ {
		switch flag := flags[i]; flag {
		case "-MD", "-MMD", "-MP", "-MG":
			dependencies = append(dependencies, flag)
		case "-MF", "-MT", "-MQ":
			dependencies = append(dependencies, flags[i:min(i+2, len(flags))]...)
			i++
		default:
			others = append(others, flag)
		}
	}
	return others, dependencies
}

// dependencies are the flags with which the step that reads a source writes its
// dependencies, if requested: the target is the output of the call, and the file is
// NAME.d unless the command line gives another.
func (c *ccCall) dependencies(target, name string) []string {
	_, list := splitDependencies(c.flags)
	if len(list) == 0 {
		return nil
	}
	if !slices.Contains(list, "-MT") && !slices.Contains(list, "-MQ") {
		list = append(list, "-MQ", target)
	}
	if !slices.Contains(list, "-MF") {
		list = append(list, "-MF", strings.TrimSuffix(name, filepath.Ext(name))+".d")
	}
	return list
}

// result returns the output for a file, with another extension.
func (c *ccCall) result(file, ending string) string {
	if c.out != "" {
		return c.out
	}
	name := filepath.Base(file)
	return filepath.Join(c.dir, strings.TrimSuffix(name, filepath.Ext(name))+ending)
}

// arch adds an architecture. Of several, only the PTX of the oldest is needed, as
// every later GPU accepts it, but programs may select code by architecture, so all
// are kept.
func (c *ccCall) arch(flag, value string) error {
	if value == "native" || value == "all" || value == "all-major" {
		c.anyArch = true
		return nil
	}
	name, ok := sdk.Arch(value)
	if !ok {
		return usage("cc: %s: %q is not an architecture; want sm_70, sm_75, sm_80, sm_86, sm_90 ...", flag, value)
	}
	if !slices.Contains(c.archs, name) {
		c.archs = append(c.archs, name)
	}
	return nil
}

// forPtxas adds options for the compiler to machine code, which only a listing needs.
func (c *ccCall) forPtxas(flag, value string) error {
	if strings.HasSuffix(flag, "maxrregcount") {
		value = "--maxrregcount=" + value
	}
	c.ptxas = append(c.ptxas, strings.Split(value, ",")...)
	return nil
}

// deepestOptions bounds the nesting of option files (our choice).
const deepestOptions = 16

// withOptionFiles replaces option files (--options-file FILE, -optf FILE or @FILE)
// by their words.
func withOptionFiles(args []string, depth int) ([]string, error) {
	var all []string
	for i := 0; i < len(args); i++ {
		arg := args[i]
		name, files, joined := strings.Cut(arg, "=")
		switch {
		case name == "--options-file" || name == "-optf":
			if !joined {
				if i++; i == len(args) {
					return nil, usage("cc: %s: a value is missing", arg)
				}
				files = args[i]
			}
		case strings.HasPrefix(arg, "@") && len(arg) > 1:
			files = arg[1:]
		default:
			all = append(all, arg)
			continue
		}
		if depth == deepestOptions {
			return nil, usage("cc: %s: option files are nested more than %d deep", arg, deepestOptions)
		}
		for file := range strings.SplitSeq(files, ",") {
			text, err := os.ReadFile(file)
			if err != nil {
				return nil, usage("cc: options: %w", err)
			}
			words, err := withOptionFiles(shellWords(string(text)), depth+1)
			if err != nil {
				return nil, err
			}
			all = append(all, words...)
		}
	}
	return all, nil
}

// shellWords splits a text at blanks like a shell: quotes of both kinds hold words
// together, and a backslash escapes the next character, except within single
// quotes.
func shellWords(text string) []string {
	var words []string
	var word strings.Builder
	var quote rune
	began, escaped := false, false
	for _, r := range text {
		switch {
		case escaped:
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			began, escaped = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '"' || r == '\''):
			quote, began = r, true
		case quote == 0 && (r == ' ' || r == '\t' || r == '\n' || r == '\r'):
			if began {
				words = append(words, word.String())
			}
			word.Reset()
			began = false
		default:
			word.WriteRune(r)
			began = true
		}
	}
	if began {
		words = append(words, word.String())
	}
	return words
}
