package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/internal/cuda/sdk"
	"github.com/heddle-sim/heddle/internal/report"
)

// ccCmd is `heddle cc`.
type ccCmd struct {
	Args []string `arg:"" optional:"" name:"args" help:"Files, and flags of nvcc or clang."`
}

const ccHelp = `Usage: heddle cc [flags] FILE...

Compile CUDA C++ with clang (14 or later) and nothing of NVIDIA's.

  FILE...            .cu files; also .cpp, .c, .o, .a, .so
  -o FILE            where the result goes
  -c                 compile to objects, do not link (-odir DIR: several, into a folder)
  --ptx              only the PTX of the kernels (NAME.ptx, or -o)
  --fatbin           only a fat binary of it, with PTX for each -arch (NAME.fatbin, or -o)
  -arch=sm_XX        the oldest GPU that the kernels are for (default sm_70)
  -lineinfo, -g      keep source lines for messages and reports
  --use_fast_math    approximate float functions, no float denormals
  --show             print the call of clang first

Other flags of nvcc are translated (-gencode, -Xcompiler, -dc, -dlink, -rdc,
--default-stream, -x cu ...) or, where
they mean nothing here, dropped; all others go to clang: -I, -D, -O, -std, -L, -l ...
A program made so runs with heddle cuda. The environment variable HEDDLE_CLANG
names a compiler other than the newest on the path.
`

// defaultArch is for kernels that nobody says the GPU of.
const defaultArch = "sm_70"

// Run compiles.
func (c *ccCmd) Run(e env) error {
	call, err := parseCC(c.Args)
	if err != nil {
		return err
	}
	if call.help {
		_, err := fmt.Fprint(e.stdout, ccHelp)
		return err
	}
	if len(call.files) == 0 && !call.version {
		return usage("cc: no file to compile; see heddle cc --help")
	}
	clang, err := sdk.FindClang(e.ctx)
	if err != nil {
		return usage("cc: %w", err)
	}
	if call.version {
		_, err := fmt.Fprintf(e.stdout, "heddle cc %s, with %s\nIn place of NVIDIA's compiler: CUDA release 11.8\n", report.Version, clang.Version)
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return usage("cc: cannot find this program's own file: %w", err)
	}
	kit, err := sdk.Unpack(e.ctx, clang, self)
	if err != nil {
		return usage("cc: %w", err)
	}
	if err := call.macrosBehindHeaders(kit); err != nil {
		return usage("cc: %w", err)
	}
	run := func(args []string) error {
		if call.show {
			fmt.Fprintln(e.stderr, clang.Path, strings.Join(args, " "))
		}
		cmd := exec.CommandContext(e.ctx, clang.Path, append([]string{"--driver-mode=g++"}, args...)...) // HEDDLE_CLANG may name the compiler of C
		cmd.Stdin, cmd.Stdout, cmd.Stderr = e.stdin, e.stdout, e.stderr
		err := cmd.Run()
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return &exitError{code: exitUsage} // clang has said why
		}
		if err != nil {
			return usage("cc: %w", err)
		}
		return nil
	}
	call.chooseOpenMP(e, kit)
	tmp, err := os.MkdirTemp("", "heddle-cc-")
	if err != nil {
		return usage("cc: %w", err)
	}
	defer os.RemoveAll(tmp)
	if err := call.asClangHasIt(tmp); err != nil {
		return usage("cc: %w", err)
	}
	if call.links() || call.dlink {
		if err := call.joinKernels(kit, tmp, run); err != nil {
			return err
		}
	}
	if call.fatbin {
		return call.fatBinaries(kit, run)
	}
	if call.dlink {
		return nil // joinKernels has made it
	}
	if call.dir != "" {
		if err := os.MkdirAll(call.dir, 0o777); err != nil {
			return usage("cc: %w", err)
		}
	}
	for _, args := range call.commands(kit) {
		if err := run(args); err != nil {
			return err
		}
	}
	return nil
}

// ccCall is a command line of cc, understood.
type ccCall struct {
	help, version, show bool
	compile, ptx, rdc   bool
	fatbin              bool              // of ptx: packed
	look                bool              // clang only looks at the sources: -E, -M and their like
	dlink               bool              // only the object that joins the kernels of others
	out                 string            // a file
	dir                 string            // for outputs that have no name of their own
	language            string            // of the sources that follow, as far as -x says it
	languages           map[string]string // of sources by name, whatever that is
	archs               []string          // sm_XX
	files               []string          // sources, objects, libraries, in order
	flags               []string          // of clang, for compiling and linking
	link                []string          // of clang, for linking alone
}

// dropped are flags of nvcc that mean nothing here; those with true have a
// value as the next argument, unless it comes after an equals sign.
var dropped = map[string]bool{
	"-cudart": true, "--cudart": true, "-ccbin": true, "--compiler-bindir": true, "-maxrregcount": true, "--maxrregcount": true,
	"-Xptxas": true, "--ptxas-options": true, "-Xnvlink": true, "-Xcudafe": true, "--threads": true, "-t": true, "-diag-suppress": true,
	"--diag-suppress": true, "-lcudart": false, "-lcudart_static": false, "-lcudadevrt": false, "--expt-relaxed-constexpr": false,
	"-expt-relaxed-constexpr": false, "--expt-extended-lambda": false, "-expt-extended-lambda": false, "--extended-lambda": false,
	"-extended-lambda": false, "--relocatable-device-code=false": false, "-rdc=false": false, "--keep": false, "-keep": false,
	"-restrict": false, "--restrict": false, "-m64": false, "--resource-usage": false, "-res-usage": false, "--no-align-double": false,
	"--compile-as-tools-patch": false, "-Wno-deprecated-gpu-targets": false, "-use-local-env": false,
	"-forward-unknown-to-host-compiler": false, "--forward-unknown-to-host-compiler": false, "-forward-unknown-opts": false,
	"-allow-unsupported-compiler": false, "--allow-unsupported-compiler": false, "-src-in-ptx": false, "--source-in-ptx": false,
	"-extra-device-vectorization": false, "--extra-device-vectorization": false, "-dlto": false, "--dlink-time-opt": false,
	"--Werror": true, "-nvlink-options": true, "--nvlink-options": true, "-keep-dir": true, "--keep-dir": true,
	"-clean-targets": false, "-split-compile": true, "--split-compile": true,
}

// clangFlag is nvcc's spelling of flags that clang has too.
var clangFlag = map[string][]string{
	"-lineinfo": {"-gline-tables-only"}, "--generate-line-info": {"-gline-tables-only"}, "-G": {"-g"}, "--device-debug": {"-g"}, "--debug": {"-g"},
	"--use_fast_math": {"-fgpu-flush-denormals-to-zero", "-fcuda-approx-transcendentals"},
	"-use_fast_math":  {"-fgpu-flush-denormals-to-zero", "-fcuda-approx-transcendentals"},
	"-ftz=true":       {"-fgpu-flush-denormals-to-zero"}, "--ftz=true": {"-fgpu-flush-denormals-to-zero"},
	"-fmad=false": {"-ffp-contract=off"}, "--fmad=false": {"-ffp-contract=off"},
	"-fmad=true": {"-ffp-contract=fast"}, "--fmad=true": {"-ffp-contract=fast"},
	"-ftz=false": nil, "--ftz=false": nil, "-prec-div=true": nil, "-prec-sqrt=true": nil, "--prec-div=true": nil, "--prec-sqrt=true": nil,
	"-prec-div=false": nil, "-prec-sqrt=false": nil, "--prec-div=false": nil, "--prec-sqrt=false": nil,
	"-shared": {"-shared"}, "--shared": {"-shared"},
}

// withValue are flags of clang whose value is the next argument, beside those
// that parseCC itself knows.
var withValue = []string{"-I", "-D", "-U", "-L", "-l", "-isystem", "-include", "-iquote", "-idirafter", "-Xclang", "-Xlinker", "-MF", "-MT", "-MQ", "-mllvm", "-target", "-isysroot", "-framework"}

// long are the long names of nvcc for short ones.
var long = map[string]string{
	"--output-file": "-o", "--compile": "-c", "--include-path": "-I", "--define-macro": "-D", "--undefine-macro": "-U", "--library-path": "-L",
	"--library": "-l", "--optimize": "-O", "--gpu-architecture": "-arch", "--generate-code": "-gencode", "--gpu-code": "-code",
	"--compiler-options": "-Xcompiler", "--linker-options": "-Xlinker", "--pre-include": "-include", "--system-include": "-isystem",
	"--device-c": "-dc", "--device-link": "-dlink", "--output-directory": "-odir", "--x": "-x",
	"-default-stream": "--default-stream", "-V": "--version", "--generate-dependencies": "-M", "--generate-nonsystem-dependencies": "-MM",
	"--preprocess": "-E", "--dependency-output": "-MF", "--disable-warnings": "-w", "--profile": "-pg", "--dryrun": "-###", "-dryrun": "-###",
	"--relocatable-device-code": "-rdc", "-ptx": "--ptx", "-fatbin": "--fatbin", "-S": "--ptx-or-S", "--std": "-std",
}

var archName = regexp.MustCompile(`(?:sm|compute|lto)_(\d+[af]?)`)

// parseCC understands a command line.
func parseCC(args []string) (*ccCall, error) {
	c := &ccCall{languages: map[string]string{}}
	for i := 0; i < len(args); i++ {
		arg := args[i]
		name, value, joined := strings.Cut(arg, "=")
		if short, ok := long[name]; ok && short != "--ptx-or-S" {
			name = short
			if !joined {
				arg = short
			} else {
				arg = short + "=" + value
			}
		}
		next := func() (string, error) {
			if joined {
				return value, nil
			}
			if i++; i == len(args) {
				return "", usage("cc: %s: a value is missing", arg)
			}
			return args[i], nil
		}
		if to, ok := clangFlag[arg]; ok {
			c.flags = append(c.flags, to...)
			continue
		}
		if more, ok := dropped[name]; ok {
			if more && !joined {
				if _, err := next(); err != nil {
					return nil, err
				}
			}
			continue
		}
		if _, ok := dropped[arg]; ok {
			continue
		}
		switch {
		case arg == "--help" || arg == "-h":
			c.help = true
		case arg == "--version":
			c.version = true
		case arg == "--show" || arg == "--verbose":
			c.show = true
		case arg == "-c":
			c.compile = true
		case arg == "-dc":
			c.compile, c.rdc = true, true
		case arg == "--ptx":
			c.ptx = true
		case arg == "--fatbin":
			c.ptx, c.fatbin = true, true
		case arg == "-dlink":
			c.dlink = true
		case arg == "-M" || arg == "-MM" || arg == "-E" || arg == "-fsyntax-only":
			c.look = true
			c.flags = append(c.flags, arg)
		case name == "-odir" || name == "-x" || name == "--default-stream":
			v, err := next()
			if err != nil {
				return nil, err
			}
			if err := c.named(name, v); err != nil {
				return nil, err
			}
		case name == "-rdc" || arg == "-fgpu-rdc":
			if name == "-rdc" {
				v, err := next()
				if err != nil {
					return nil, err
				}
				if v == "false" {
					continue
				}
			}
			c.rdc = true
		case name == "-o":
			v, err := next()
			if err != nil {
				return nil, err
			}
			c.out = v
		case name == "-arch" || name == "-gencode" || name == "-code" || name == "--cuda-gpu-arch" || name == "--offload-arch":
			v, err := next()
			if err != nil {
				return nil, err
			}
			if name == "-code" {
				continue // the architecture of the PTX decides
			}
			if name == "-gencode" {
				v, _, _ = strings.Cut(v, ",code") // arch=compute_XX
			}
			if err := c.arch(name, v); err != nil {
				return nil, err
			}
		case name == "-Xcompiler":
			v, err := next()
			if err != nil {
				return nil, err
			}
			c.flags = append(c.flags, strings.FieldsFunc(v, func(r rune) bool { return r == ',' || r == ' ' })...)
		case name == "-Xlinker" && joined:
			c.link = append(c.link, "-Xlinker", value)
		case arg == "-Xlinker" || arg == "-L" || arg == "-l":
			v, err := next()
			if err != nil {
				return nil, err
			}
			c.link = append(c.link, arg, v)
		case slices.Contains(withValue, arg), joined && strings.HasPrefix(args[i], "--") && slices.Contains([]string{"-isystem", "-include", "-MF"}, name):
			v, err := next()
			if err != nil {
				return nil, err
			}
			c.flags = append(c.flags, name, v)
		case arg == "-std" || arg == "-O":
			v, err := next()
			if err != nil {
				return nil, err
			}
			c.flags = append(c.flags, map[string]string{"-std": "-std=", "-O": "-O"}[arg]+v)
		case joined && slices.Contains([]string{"-I", "-D", "-U", "-L", "-l", "-O"}, name) && strings.HasPrefix(args[i], "--"):
			c.add(name + value)
		case strings.HasPrefix(arg, "-") && arg != "-":
			c.add(arg)
		default:
			c.files = append(c.files, arg)
			if c.language != "" {
				c.languages[arg] = c.language
			}
		}
	}
	if c.ptx && c.out != "" && len(c.files) > 1 {
		return nil, usage("cc: -o names one file, and %d are compiled to one each", len(c.files))
	}
	if c.ptx && c.compile {
		return nil, usage("cc: -c excludes --ptx and --fatbin")
	}
	if c.compile && c.out != "" && len(c.files) > 1 && !isFolder(c.out) {
		return nil, usage("cc: -o names one file, and %d are compiled; -odir names a folder", len(c.files))
	}
	if isFolder(c.out) {
		if c.links() || c.dlink {
			return nil, usage("cc: -o %s is a folder; name the file", c.out)
		}
		c.out, c.dir = "", c.out
	}
	if len(c.archs) == 0 {
		c.archs = []string{defaultArch}
	}
	return c, nil
}

// isFolder reports whether an output is one: it is there, or its name ends so.
func isFolder(name string) bool {
	st, err := os.Stat(name)
	return strings.HasSuffix(name, "/") || err == nil && st.IsDir()
}

// named takes one of the flags whose value has a meaning of its own here.
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
			return usage("cc: %s: %q is not known; it is legacy or per-thread", flag, value)
		}
	}
	return nil
}

// links reports whether a program or a library comes out.
func (c *ccCall) links() bool { return !c.ptx && !c.compile && !c.look && !c.dlink }

// add takes one flag in one word.
func (c *ccCall) add(flag string) {
	if strings.HasPrefix(flag, "-L") || strings.HasPrefix(flag, "-l") || strings.HasPrefix(flag, "-Wl,") {
		// Order matters to the linker: libraries stand among the files.
		c.link = append(c.link, flag)
		return
	}
	c.flags = append(c.flags, flag)
}

// arch takes an architecture; of several only the PTX of the oldest is needed,
// as every later GPU takes it, but programs may choose code by it: all are kept.
func (c *ccCall) arch(flag, value string) error {
	if value == "native" || value == "all" || value == "all-major" {
		value = defaultArch
	}
	m := archName.FindStringSubmatch(value)
	if m == nil {
		return usage("cc: %s: %q names no architecture; write sm_70, sm_75, sm_80, sm_86, sm_90 ...", flag, value)
	}
	if name := "sm_" + m[1]; !slices.Contains(c.archs, name) {
		c.archs = append(c.archs, name)
	}
	return nil
}

// base are the arguments that every call of clang has.
func (c *ccCall) base(kit sdk.SDK) []string {
	base := []string{"--start-no-unused-arguments", // not all of this is for all files
		"--cuda-path=" + kit.Dir, "-Wno-unknown-cuda-version", "--no-cuda-version-check",
		// Old sources rest on what gcc only warns of.
		"-Wno-c++11-narrowing", "-Wno-reserved-user-defined-literal", "-Wno-error=implicit-function-declaration",
		"-Wno-error=implicit-int", "-Wno-error=int-conversion", "-Wno-error=incompatible-pointer-types", "-Wno-register",
		"-Wno-static-float-init", "-Wno-missing-template-arg-list-after-template-kw", "-Wno-unknown-warning-option",
		// Functions that forget to return a value that nobody uses do return.
		"-fno-strict-return"}
	if !c.ptx {
		// So do checks on the host of what a kernel computed with integers that wrap,
		// and methods that ask whether this is null.
		base = append(base, "-Xarch_host", "-fwrapv", "-Xarch_host", "-fno-delete-null-pointer-checks")
	}
	if kit.Clang.Major < 16 {
		base = append(base, "-std=gnu++17")
	}
	for _, arch := range c.archs {
		base = append(base, "--cuda-gpu-arch="+arch)
	}
	// Files that are not CUDA's may include its headers too.
	base = append(base, "-isystem", kit.Include(), "-idirafter", filepath.Join(kit.Include(), "fallback"))
	if c.rdc {
		base = append(base, "-fgpu-rdc")
	}
	base = append(base, "--end-no-unused-arguments")
	return append(base, c.ordinary()...)
}

// ordinary are the flags that have nothing to do with CUDA.
func (c *ccCall) ordinary() []string {
	if slices.ContainsFunc(c.flags, func(f string) bool { return strings.HasPrefix(f, "-O") }) {
		return c.flags
	}
	return append([]string{"-O2"}, c.flags...)
}

// asClangHasIt has clang read those sources in another spelling that only nvcc
// takes as they are.
func (c *ccCall) asClangHasIt(dir string) error {
	var sources, folders []string
	for _, file := range c.files {
		if filepath.Ext(file) == ".cu" || c.languages[file] == "cuda" {
			sources = append(sources, file)
		}
	}
	for i, flag := range c.flags {
		if folder, ok := strings.CutPrefix(flag, "-I"); ok && folder != "" {
			folders = append(folders, folder)
		} else if ok && i+1 < len(c.flags) {
			folders = append(folders, c.flags[i+1])
		}
	}
	overlay, err := sdk.Overlay(dir, sources, folders)
	if err == nil && overlay != "" {
		c.flags = append([]string{"-ivfsoverlay", overlay}, c.flags...)
	}
	return err
}

// chooseOpenMP has the host's code run on one thread where clang has no OpenMP
// library, and says so.
func (c *ccCall) chooseOpenMP(e env, kit sdk.SDK) {
	if !c.openMP() || kit.Clang.HasOpenMP(e.ctx) {
		return
	}
	c.flags = slices.DeleteFunc(slices.Clone(c.flags), isOpenMP)
	if c.compile || c.ptx { // it is said when the program is linked
		return
	}
	fmt.Fprintf(e.stderr, "heddle: OpenMP's library is not here, and host code runs on one thread; install it with: sudo apt-get install libomp-%d-dev\n", kit.Clang.Major)
}

func (c *ccCall) openMP() bool { return slices.ContainsFunc(c.flags, isOpenMP) }

func isOpenMP(flag string) bool { return flag == "-fopenmp" || strings.HasPrefix(flag, "-fopenmp=") }

// sourceEndings are those of files that clang compiles.
var sourceEndings = []string{".cu", ".cpp", ".cc", ".cxx", ".c"}

// isSource reports whether clang compiles a file.
func (c *ccCall) isSource(file string) bool {
	return c.languages[file] != "" || slices.Contains(sourceEndings, filepath.Ext(file))
}

// commands are the calls of clang that make the result.
func (c *ccCall) commands(kit sdk.SDK) [][]string {
	base := c.base(kit)
	if !c.ptx {
		if !c.compile && !slices.ContainsFunc(c.files, c.isSource) {
			base = c.ordinary() // with OpenMP, flags of CUDA would call for tools that clang alone has not
		}
		if c.compile && c.dir != "" {
			var calls [][]string
			for _, file := range c.files {
				calls = append(calls, append(slices.Concat(base, c.inputs([]string{file})), "-c", "-o", c.result(file, ".o")))
			}
			return calls
		}
		args := append(base, c.inputs(c.files)...)
		switch {
		case c.compile:
			args = append(args, "-c")
		case c.links():
			args = append(args, c.link...)
			args = append(args, c.fixed()...)
			args = append(args, "-L"+kit.Lib(), "-lcudart")
		}
		if c.out != "" {
			args = append(args, "-o", c.out)
		}
		return [][]string{args}
	}
	var calls [][]string
	for _, file := range c.files {
		calls = append(calls, c.toPTX(kit, file, c.result(file, ".ptx")))
	}
	return calls
}

// fixed are flags of the linker for a program with managed variables: the device
// reaches them at the host's addresses, and if these are the same in every run, so
// is the number of cycles. They lie above the addresses that kernels have for
// shared and local memory.
func (c *ccCall) fixed() []string {
	own := func(f string) bool {
		return strings.HasPrefix(f, "-fuse-ld") || slices.Contains([]string{"-shared", "-pie", "-no-pie", "-static-pie", "-r"}, f)
	}
	if slices.ContainsFunc(c.flags, own) || !slices.ContainsFunc(c.files, hasManaged) {
		return nil
	}
	return []string{"-no-pie", "-Wl,-Ttext-segment=0x10000000"}
}

// hasManaged reports whether a source or an object names managed variables, or
// their section.
func hasManaged(file string) bool {
	if !slices.Contains(append(sourceEndings, ".o"), filepath.Ext(file)) {
		return false
	}
	data, err := os.ReadFile(file)
	return err == nil && (bytes.Contains(data, []byte("__managed__")) || bytes.Contains(data, []byte("heddle_managed\x00")))
}

// result is the file that one file becomes, with another ending.
func (c *ccCall) result(file, ending string) string {
	if c.out != "" {
		return c.out
	}
	name := filepath.Base(file)
	return filepath.Join(c.dir, strings.TrimSuffix(name, filepath.Ext(name))+ending)
}

// toPTX is the call of clang that makes PTX of a file.
func (c *ccCall) toPTX(kit sdk.SDK, file, out string) []string {
	return append(slices.Clone(c.base(kit)), "--cuda-device-only", "-S", "-x", "cuda", file, "-o", out)
}

// fatBinaries makes a fat binary of each file, with PTX for every architecture.
func (c *ccCall) fatBinaries(kit sdk.SDK, run func([]string) error) error {
	tmp, err := os.MkdirTemp("", "heddle-cc-")
	if err != nil {
		return usage("cc: %w", err)
	}
	defer os.RemoveAll(tmp)
	for _, file := range c.files {
		pack := []string{"--create", c.result(file, ".fatbin")}
		for _, arch := range c.archs {
			one, text := *c, filepath.Join(tmp, arch+".ptx")
			one.archs = []string{arch}
			if err := run(one.toPTX(kit, file, text)); err != nil {
				return err
			}
			pack = append(pack, fmt.Sprintf("--image=profile=%s,file=%s", arch, text))
		}
		if err := sdk.RunTool("fatbinary", pack); err != nil {
			return usage("cc: %s: %w", file, err)
		}
	}
	return nil
}

// inputs are the files; those in C stay C, as a C++ compiler would not have it.
func (c *ccCall) inputs(files []string) []string {
	standard := slices.ContainsFunc(c.flags, func(f string) bool { return strings.HasPrefix(f, "-std=") })
	var list []string
	for _, file := range files {
		if language := c.languages[file]; language != "" {
			list = append(list, "-x", language, file, "-x", "none")
		} else if strings.HasSuffix(file, ".c") && !standard {
			list = append(list, "-x", "c", file, "-x", "none")
		} else {
			list = append(list, file)
		}
	}
	return list
}

// joinKernels makes one program of the kernels of several files, where these
// were compiled for that: sources become objects in a folder for it, and an
// object joins them that registers their fat binaries together. Sources with
// OpenMP become objects too: clang links both kinds at once in another way.
func (c *ccCall) joinKernels(kit sdk.SDK, dir string, run func([]string) error) error {
	if c.rdc || c.openMP() {
		for i, file := range c.files {
			if !c.isSource(file) {
				continue
			}
			object := filepath.Join(dir, fmt.Sprintf("%d.o", i))
			if err := run(append(append(c.base(kit), c.inputs([]string{file})...), "-c", "-o", object)); err != nil {
				return err
			}
			c.files[i] = object
		}
	}
	names, err := c.relocatable(dir)
	if err != nil || len(names) == 0 && !c.dlink {
		return err
	}
	source, object := filepath.Join(dir, "join.c"), filepath.Join(dir, "join.o")
	if err := os.WriteFile(source, []byte(sdk.Join(names)), 0o666); err != nil {
		return usage("cc: %w", err)
	}
	if c.dlink {
		object = cmp.Or(c.out, filepath.Join(c.dir, "a_dlink.o")) // nvcc's name for it
	}
	c.files = append(c.files, object)
	return run([]string{"-x", "c", "-fPIC", "-O1", "-c", source, "-o", object})
}

// relocatable finds the objects whose kernels are to be joined, and returns the
// names of the functions by which they want to be registered. Those in archives
// become files of their own in a folder, for a part of them would not do.
func (c *ccCall) relocatable(dir string) ([]string, error) {
	var names, files []string
	for _, file := range append(slices.Clone(c.files), c.archives()...) {
		ending := filepath.Ext(file)
		if ending != ".o" && ending != ".a" {
			files = append(files, file)
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, usage("cc: %w", err)
		}
		objects := [][]byte{data}
		if ending == ".a" {
			if objects, err = sdk.Archived(data); err != nil {
				return nil, usage("cc: %s: %w", file, err)
			}
		}
		for i, object := range objects {
			list, err := sdk.Relocatable(object)
			if err != nil {
				return nil, usage("cc: %s: %w", file, err)
			}
			names = append(names, list...)
			if ending == ".o" || c.dlink {
				continue
			}
			member := filepath.Join(dir, fmt.Sprintf("%s-%d-%d.o", filepath.Base(file), len(files), i))
			if err := os.WriteFile(member, object, 0o666); err != nil {
				return nil, usage("cc: %w", err)
			}
			files = append(files, member)
		}
		if slices.Contains(c.files, file) {
			files = append(files, file)
		}
	}
	c.files = files
	return names, nil
}

// archives are the files of -lNAME, as far as they are archives beside which there
// is no shared library.
func (c *ccCall) archives() []string {
	var folders, list []string
	for i, flag := range c.link {
		switch folder, ok := strings.CutPrefix(flag, "-L"); {
		case ok && folder != "":
			folders = append(folders, folder)
		case ok && i+1 < len(c.link):
			folders = append(folders, c.link[i+1])
		}
	}
	for i, flag := range c.link {
		name, ok := strings.CutPrefix(flag, "-l")
		if !ok {
			continue
		}
		if name == "" && i+1 < len(c.link) {
			name = c.link[i+1]
		}
		for _, folder := range folders {
			base := filepath.Join(folder, "lib"+name)
			if _, err := os.Stat(base + ".so"); err == nil {
				break
			}
			if _, err := os.Stat(base + ".a"); err == nil {
				list = append(list, base+".a")
				break
			}
		}
	}
	return list
}

// standIn runs this program as one of the tools that clang calls, if it was
// called by such a name.
func standIn(args []string) (code int, ok bool) {
	if len(args) == 0 || !slices.Contains(sdk.Tools, filepath.Base(args[0])) {
		return 0, false
	}
	if err := sdk.RunTool(filepath.Base(args[0]), args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "%s (heddle): %v\n", filepath.Base(args[0]), err)
		return exitUsage, true
	}
	return exitOK, true
}
