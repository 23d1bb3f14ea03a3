package cli

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/internal/work/cuda/sdk"
)

// ccBuild produces the outputs of a call step by step: PTX of each source for each
// architecture, a fat binary of it, an object from that and from the host's code,
// and a program from all objects. Clang could do all this in one call, but LLVM
// flags that are meant for kernels would then apply to the host's code too.
type ccBuild struct {
	*ccCall
	e   env
	kit sdk.SDK
	tmp string // a folder for intermediate files
}

func (b *ccBuild) build() error {
	switch {
	case b.look:
		for _, file := range b.files {
			if err := b.lookAt(file); err != nil {
				return err
			}
		}
		return nil
	case b.fatbin:
		for _, file := range b.files {
			out := b.result(file, ".fatbin")
			if err := b.fatBinary(file, out, b.dependencies(out, out)); err != nil {
				return err
			}
		}
		return nil
	case b.sass:
		for _, file := range b.files {
			if err := b.listing(file, b.result(file, ".sass")); err != nil {
				return err
			}
		}
		return nil
	case b.ptx:
		for _, file := range b.files {
			out := b.result(file, ".ptx")
			if err := b.device(file, b.archs[0], out, b.dependencies(out, out)); err != nil {
				return err
			}
		}
		return nil
	case b.compile:
		for _, file := range b.files {
			out := b.result(file, ".o")
			if err := b.object(file, out, b.dependencies(out, out)); err != nil {
				return err
			}
		}
		return nil
	}
	sources := 0
	for _, file := range b.files {
		if b.languageOf(file) != "" {
			sources++
		}
	}
	for i, file := range b.files {
		if b.languageOf(file) == "" {
			continue
		}
		name := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
		object := filepath.Join(b.tmp, fmt.Sprintf("%d-%s.o", i, name))
		list := name + ".d"
		switch {
		case b.out != "" && sources == 1:
			list = b.out
		case b.out != "": // gcc's name for it
			list = b.out + "-" + list
		}
		if err := b.object(file, object, b.dependencies(cmp.Or(b.out, "a.out"), list)); err != nil {
			return err
		}
		b.files[i] = object
	}
	if !b.dry {
		if err := b.joinKernels(); err != nil || b.dlink {
			return err
		}
	}
	return b.linkAll()
}

// clang runs the compiler.
func (b *ccBuild) clang(args ...string) error {
	cmd := b.kit.Clang.Command(b.e.ctx, args...)
	b.say(cmd.Args)
	if b.dry {
		return nil
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = b.e.stdin, b.e.stdout, b.e.stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return &exitError{code: exitUsage} // clang has reported why
	}
	if err != nil {
		return usage("cc: %w", err)
	}
	return nil
}

// say prints a step in nvcc's form, if steps are shown.
func (b *ccBuild) say(words []string) {
	if !b.show {
		return
	}
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = shellWord(w)
	}
	fmt.Fprintln(b.e.stderr, "#$", strings.Join(quoted, " "))
}

// shellWord quotes a word for the shell if necessary.
func shellWord(w string) string {
	if w != "" && !strings.ContainsAny(w, " \t\n\"'\\$`;&|<>()*?[]{}~#!") {
		return w
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, `$`, `\$`, "`", "\\`").Replace(w) + `"`
}

// sayToolkit prints the lines from which CMake's CMakeDetermineCUDACompiler takes
// toolkit, headers, libraries and architectures.
func (b *ccBuild) sayToolkit() {
	for _, line := range [][2]string{
		{"_CUDART_", "cudart"},
		{"_HERE_", filepath.Join(b.kit.Dir, "bin")},
		{"TOP", b.kit.Dir},
		{"NVVMIR_LIBRARY_DIR", filepath.Join(b.kit.Dir, "nvvm/libdevice")},
		{"PATH", os.Getenv("PATH")},
		{"INCLUDES", shellWord("-I" + b.kit.Include())},
		{"LIBRARIES", shellWord("-L" + b.kit.Lib())},
		{"ARCHITECTURES", "-arch " + strings.ReplaceAll(strings.Join(b.archs, " -arch "), "sm_", "compute_")},
	} {
		fmt.Fprintf(b.e.stderr, "#$ %s=%s\n", line[0], line[1])
	}
}

// archList returns architectures as nvcc's macro lists them: 750,800.
func archList(archs []string) string {
	var list []string
	for _, arch := range archs {
		if n := strings.TrimRight(strings.TrimPrefix(arch, "sm_"), "af") + "0"; !slices.Contains(list, n) {
			list = append(list, n)
		}
	}
	slices.SortFunc(list, func(a, b string) int { return cmp.Or(len(a)-len(b), strings.Compare(a, b)) })
	return strings.Join(list, ",")
}

// reading returns the arguments of every call of clang that reads a source.
func (b *ccBuild) reading(file string) []string {
	language := b.languageOf(file)
	args := b.kit.ReadingFlags(language)
	if b.overlay != "" {
		args = append(args, "-ivfsoverlay", b.overlay)
	}
	if language == "cuda" {
		// The host's code finds static variables by name, so the names must be the
		// same in all steps.
		sum := sha256.Sum256([]byte(strings.Join(slices.Concat([]string{absolute(file)}, b.flags, b.host), "\x00")))
		id := "-cuid=" + hex.EncodeToString(sum[:8])
		// Before clang 22 the driver does not pass this on if host and device are
		// compiled separately.
		args = append(args, id, "-Xclang", id, "-D__CUDA_ARCH_LIST__="+archList(b.archs))
		if b.rdc {
			args = append(args, "-fgpu-rdc")
		}
	}
	return args
}

func absolute(file string) string {
	if abs, err := filepath.Abs(file); err == nil {
		return abs
	}
	return file
}

// optimized returns the flags of the command line, with -O2 if they give no level.
func (c *ccCall) optimized() []string {
	if slices.ContainsFunc(c.flags, func(f string) bool { return strings.HasPrefix(f, "-O") }) {
		return c.flags
	}
	return append([]string{"-O2"}, c.flags...)
}

// device compiles a source, whatever its name, to PTX for one architecture.
func (b *ccBuild) device(file, arch, out string, dependencies []string) error {
	flags, _ := splitDependencies(b.optimized())
	flags = slices.DeleteFunc(flags, func(f string) bool { return f == "-v" })
	as := *b
	as.ccCall = b.as(file, "cuda")
	return b.kit.PTX(b.clang, arch, slices.Concat(as.reading(file), flags, dependencies), file, b.tmp, out)
}

// listing compiles a source to machine code, as text. Kernels that cannot be compiled are left out, and are an error.
func (b *ccBuild) listing(file, out string) error {
	text := filepath.Join(b.tmp, strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))+".ptx")
	if err := b.device(file, b.archs[0], text, b.dependencies(out, out)); err != nil {
		return err
	}
	words := slices.Concat([]string{"ptxas", "--sass", "-arch", b.archs[0]}, b.ptxas, []string{text})
	if slices.ContainsFunc(b.flags, func(f string) bool { return strings.HasPrefix(f, "-g") && f != "-g0" }) {
		words = append(words, "-lineinfo")
	}
	b.say(words)
	if b.dry {
		return nil
	}
	var listing, said bytes.Buffer
	e := b.e
	e.stdout, e.stderr = &listing, &said
	code := heddle(e, words)
	fmt.Fprint(b.e.stderr, strings.ReplaceAll(said.String(), b.tmp+string(filepath.Separator), "")) // files that nobody will find
	if code == exitOK || listing.Len() > 0 {
		if err := os.WriteFile(out, listing.Bytes(), 0o666); err != nil {
			return usage("cc: -o: %w", err)
		}
	}
	if code != exitOK {
		return &exitError{code: code}
	}
	return nil
}

// fatBinary builds a fat binary of a source, with PTX for every architecture. The
// first step also writes the dependencies.
func (b *ccBuild) fatBinary(file, out string, dependencies []string) error {
	var images []sdk.Image
	step := []string{"fatbinary", "--create=" + out}
	for _, arch := range b.archs {
		text := filepath.Join(b.tmp, filepath.Base(file)+"-"+arch+".ptx")
		if err := b.device(file, arch, text, dependencies); err != nil {
			return err
		}
		dependencies = nil
		step = append(step, "--image3=kind=ptx,sm="+strings.TrimPrefix(arch, "sm_")+",file="+text)
		if b.dry {
			continue
		}
		ptx, err := os.ReadFile(text)
		if err != nil {
			return usage("cc: %w", err)
		}
		images = append(images, sdk.Image{Arch: arch, PTX: ptx})
	}
	b.say(step)
	if b.dry {
		return nil
	}
	packed, err := sdk.FatBinary(images)
	if err == nil {
		err = os.WriteFile(out, packed, 0o666)
	}
	if err != nil {
		return usage("cc: %s: %w", file, err)
	}
	return nil
}

// hosts returns clang's arguments for sources on the host.
func (b *ccBuild) hosts(file string) []string {
	// Host checks of kernel results depend on integers that wrap, and methods test
	// whether this is null.
	args := append(b.reading(file), "-fwrapv", "-fno-delete-null-pointer-checks")
	if b.languageOf(file) == "cuda" {
		args = append(args, b.kit.CUDAFlags()...)
		for _, arch := range b.archs {
			args = append(args, "--cuda-gpu-arch="+arch)
		}
		if !slices.Contains(b.flags, "-fsyntax-only") {
			args = append(args, "--cuda-host-only")
		}
	}
	return slices.Concat(args, b.optimized(), b.host)
}

// object compiles a source to an object, and writes its dependencies.
func (b *ccBuild) object(file, out string, dependencies []string) error {
	args, _ := splitDependencies(b.hosts(file))
	args = append(args, dependencies...)
	if b.languageOf(file) == "cuda" {
		packed := filepath.Join(b.tmp, filepath.Base(file)+".fatbin")
		if err := b.fatBinary(file, packed, nil); err != nil {
			return err
		}
		args = append(args, "-Xclang", "-fcuda-include-gpubinary", "-Xclang", packed)
	}
	return b.clang(append(args, "-x", cmp.Or(b.languageOf(file), "none"), file, "-c", "-o", out)...)
}

// lookAt lets clang inspect a source without compiling it.
func (b *ccBuild) lookAt(file string) error {
	args := append(b.hosts(file), "-x", cmp.Or(b.languageOf(file), "none"), file)
	if b.out != "" {
		args = append(args, "-o", b.out)
	}
	return b.clang(args...)
}

// linkAll links objects to a program or a library.
func (b *ccBuild) linkAll() error {
	args := slices.Concat([]string{"-Qunused-arguments"}, b.optimized(), b.host, b.files, b.link, b.fixed(), []string{"-L" + b.kit.Lib(), "-lcudart"})
	if b.out != "" {
		args = append(args, "-o", b.out)
	}
	err := b.clang(args...)
	if err != nil {
		b.explainLibraries()
	}
	return err
}

// joinKernels makes one program of the kernels of several files if these were
// compiled for that: it creates an object that registers their fat binaries
// together.
func (b *ccBuild) joinKernels() error {
	parts, err := b.relocatable(b.tmp)
	if err != nil || len(parts) == 0 && !b.dlink {
		return err
	}
	source, object := filepath.Join(b.tmp, "join.c"), filepath.Join(b.tmp, "join.o")
	if err := os.WriteFile(source, []byte(sdk.Join(parts)), 0o666); err != nil {
		return usage("cc: %w", err)
	}
	if b.dlink {
		object = cmp.Or(b.out, filepath.Join(b.dir, "a_dlink.o")) // nvcc's name for it
	}
	b.files = append(b.files, object)
	return b.clang("-x", "c", "-fPIC", "-O1", "-c", source, "-o", object)
}
