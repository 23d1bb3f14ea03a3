package rtc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/heddle-sim/heddle/internal/work/cuda/sdk"
)

// deep is the folder of headers in memory, which clang sees through an overlay. It is
// nested, because the name of a header may begin with "../".
const deep = "headers/a/b/c/d/e/f/g/h"

// cHeaders are the headers of the C library that have an ending.
var cHeaders = strings.Fields(`assert.h complex.h ctype.h errno.h fenv.h float.h inttypes.h iso646.h limits.h locale.h math.h memory.h
	setjmp.h signal.h stdalign.h stdarg.h stdatomic.h stdbool.h stddef.h stdint.h stdio.h stdlib.h stdnoreturn.h string.h tgmath.h
	threads.h time.h uchar.h wchar.h wctype.h`)

// isStandard reports whether a header in memory may stand in for one of the C or C++
// library. Clang's own headers need the real ones.
func isStandard(name string) bool {
	return !strings.ContainsAny(name, "./") || slices.Contains(cHeaders, name) || strings.HasPrefix(name, "sys/")
}

// quote returns a file name as a literal of C.
func quote(name string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`).Replace(name) + `"`
}

// compile compiles the program with clang. The error code and p.log tell how it went.
func (p *program) compile(ctx context.Context, kit sdk.SDK, s settings) Result {
	dir, err := os.MkdirTemp("", "heddle-nvrtc-")
	if err != nil {
		p.log = fmt.Sprintf("nvrtc: error: %v\n", err)
		return InternalError
	}
	defer os.RemoveAll(dir)
	flags, err := p.write(dir, kit, s)
	if err != nil {
		p.log = fmt.Sprintf("nvrtc: error: %v\n", err)
		return InternalError
	}
	var log bytes.Buffer
	call := func(args ...string) error {
		cmd := kit.Clang.Command(ctx, args...)
		cmd.Stdout, cmd.Stderr = &log, &log
		return cmd.Run()
	}
	out := filepath.Join(dir, "out.ptx")
	err = kit.PTX(call, s.arch, flags, filepath.Join(dir, sourceFile), dir, out, hostWritable)
	p.log = p.readable(log.String(), dir)
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		return Compilation
	case err != nil:
		p.log += fmt.Sprintf("nvrtc: error: %v\n", err)
		return BuiltinOperationFailure
	}
	text, err := os.ReadFile(out)
	if err != nil {
		p.log += fmt.Sprintf("nvrtc: error: %v\n", err)
		return InternalError
	}
	lowered, text := lowerNames(plainNames(text))
	p.lowered = map[string]string{}
	for i, e := range p.expressions {
		name, ok := lowered[i]
		if !ok {
			p.log += fmt.Sprintf("%s: error: it names neither a kernel nor, with &, a variable of the device: %s\n", expressionFile(i), e)
			return Compilation
		}
		p.lowered[e] = name
	}
	p.ptx = text
	return Success
}

var (
	// internalVariable matches the definition of a variable of the device, or of a constant,
	// that is internal to its source, in LLVM's IR.
	internalVariable = regexp.MustCompile(`^(@\S+ = )internal (.*?addrspace\([14]\)) (global|constant) `)
	// constantSection marks variables with __constant__ (heddle_nvrtc.h).
	constantSection = []byte(`, section "heddle_constant"`)
)

// hostWritable makes LLVM keep such variables and read them in place of using their
// initial values: the host writes them with the driver's functions, which LLVM cannot see.
func hostWritable(ir []byte) []byte {
	lines := bytes.SplitAfter(ir, []byte("\n"))
	for i, line := range lines {
		if len(line) == 0 || line[0] != '@' {
			continue
		}
		plain := bytes.ReplaceAll(line, constantSection, nil)
		m := internalVariable.FindSubmatch(plain)
		if m != nil && (string(m[3]) == "global" || len(plain) < len(line)) {
			plain = internalVariable.ReplaceAll(plain, []byte("$1$2 externally_initialized global "))
		}
		lines[i] = plain
	}
	return bytes.Join(lines, nil)
}

// The files of a compilation.
const (
	sourceFile   = "source.cu"
	settingsFile = "settings.h"
)

// write writes the files of a compilation into a folder, and returns clang's flags.
func (p *program) write(dir string, kit sdk.SDK, s settings) ([]string, error) {
	var copies []sdk.Copy
	add := func(name, file, text string) error {
		converted, _ := sdk.Clangs([]byte(text))
		copies = append(copies, sdk.Copy{Name: name, File: file})
		return os.WriteFile(file, converted, 0o666)
	}
	headers, standard := filepath.Join(dir, deep), filepath.Join(dir, "standard")
	for i, h := range p.headers {
		if h.Name == "" {
			continue // it cannot be included
		}
		at := filepath.Join(headers, h.Name)
		switch {
		case filepath.IsAbs(h.Name):
			at = filepath.Clean(h.Name)
		case isStandard(h.Name):
			at = filepath.Join(standard, h.Name)
		case !strings.HasPrefix(at, dir+"/"):
			return nil, fmt.Errorf("the name of the header %q has too many parts \"..\"", h.Name)
		}
		if err := add(at, filepath.Join(dir, fmt.Sprintf("%d.h", i)), fmt.Sprintf("#line 1 %s\n%s\n", quote(h.Name), h.Text)); err != nil {
			return nil, err
		}
	}
	source := filepath.Join(dir, sourceFile)
	if err := add(source, source, fmt.Sprintf("#line 1 %s\n%s\n%s", quote(p.name), p.source, s.nameCode(p.expressions))); err != nil {
		return nil, err
	}

	others, macros := sdk.OwnMacros(s.flags)
	macros = releaseMacros(s.release) + macros
	if s.defaultDevice {
		macros += "#pragma clang force_cuda_host_device begin\n"
	}
	if err := os.WriteFile(filepath.Join(dir, settingsFile), []byte(macros), 0o666); err != nil {
		return nil, err
	}
	overlay, err := sdk.OverlayOf(dir, copies[:len(copies)-1]) // the source is a file
	if err != nil {
		return nil, err
	}
	flags := []string{"-isystem", filepath.Join(kit.Include(), "rtc")}
	flags = append(flags, kit.ReadingFlags("cuda")...)
	flags = append(flags, "-include", "heddle_nvrtc.h", "-include", filepath.Join(dir, settingsFile), "-ivfsoverlay", overlay,
		"-I"+headers, "-idirafter", standard, "-O2",
		"-fuse-cuid=none", // otherwise names of static variables would contain a digest of the folder
		"-fdiagnostics-format=msvc", "-fno-show-column", "-fno-color-diagnostics", "-fno-spell-checking")
	flags = append(flags, others...)
	if !s.noSourceDir {
		flags = append(flags, "-idirafter", filepath.Dir(p.name))
	}
	return flags, nil
}

// releaseMacros are the macros that state a release of CUDA: here it is that of NVRTC, whatever
// the headers say, of which clang's own have included some already.
func releaseMacros(release int) string {
	var b strings.Builder
	for _, m := range []struct {
		name  string
		value int
	}{
		{"__CUDACC_VER_MAJOR__", release / 1000}, {"__CUDACC_VER_MINOR__", release % 1000 / 10}, {"CUDA_VERSION", release}, {"CUDART_VERSION", release},
	} {
		fmt.Fprintf(&b, "#undef %s\n#define %[1]s %d\n", m.name, m.value)
	}
	return b.String()
}

// expressionFile is the file of a name expression in messages.
func expressionFile(i int) string { return fmt.Sprintf("name expression %d", i+1) }

// nameCode is code that instantiates name expressions. Each initializes a variable of the
// device with an address, so that the PTX says what it names; host code uses the variable,
// and makes clang keep it.
func (s *settings) nameCode(expressions []string) string {
	var b strings.Builder
	if s.defaultDevice && len(expressions) > 0 {
		b.WriteString("#pragma clang force_cuda_host_device end\n")
	}
	for i, e := range expressions {
		fmt.Fprintf(&b, `extern "C" __attribute__((nodebug)) __device__ const void *heddle_name_%d = (const void *)(
#line 1 "%s"
%s
);
__attribute__((nodebug)) void heddle_name_use_%[1]d() {
(void)(const void *)(
#line 1 "%[2]s"
%[3]s
);
(void)&heddle_name_%[1]d;
}
`, i, expressionFile(i), e)
	}
	return b.String()
}

var (
	// nameLine matches a line of PTX about a variable of nameCode.
	nameLine = regexp.MustCompile(`(?m)^.*\bheddle_name_\d+\b.*\n`)
	// loweredName matches its definition, with the name that it refers to.
	loweredName = regexp.MustCompile(`\bheddle_name_(\d+)(?:\[1\])? = \{?(?:generic\()?([A-Za-z_$][\w$]*)\)?\}?;`)
)

// lowerNames removes the variables of nameCode from PTX, and returns the names that they
// refer to, by the index of the expression.
func lowerNames(text []byte) (map[int]string, []byte) {
	names := map[int]string{}
	text = nameLine.ReplaceAllFunc(text, func(line []byte) []byte {
		if m := loweredName.FindSubmatch(line); m != nil {
			if i, err := strconv.Atoi(string(m[1])); err == nil {
				names[i] = string(m[2])
			}
		}
		return nil
	})
	return names, text
}

// staticVariable matches the definition of a static variable outside of namespaces, whose name clang
// mangles as the Itanium C++ ABI says.
var staticVariable = regexp.MustCompile(`(?m)^\s*(?:\.visible |\.weak )?\.(?:global|const) [^=;\n]*?\b_ZL(\d+)(\w+)\b`)

// plainNames gives static variables the names that they have in the source, under which programs ask the driver for
// them (NVIDIA's sample binomialOptions_nvrtc), unless something else has such a name.
func plainNames(text []byte) []byte {
	for _, m := range staticVariable.FindAllSubmatch(text, -1) {
		mangled, name := "_ZL"+string(m[1])+string(m[2]), string(m[2])
		if n, err := strconv.Atoi(string(m[1])); err != nil || n != len(name) || regexp.MustCompile(`\b`+name+`\b`).Match(text) {
			continue
		}
		text = regexp.MustCompile(`\b`+mangled+`\b`).ReplaceAll(text, []byte(name))
	}
	return text
}

var (
	missingHeader = regexp.MustCompile(`(?m)^(.*: )fatal error: '(.*)' file not found`)
	errorCount    = regexp.MustCompile(`(?m)^(?:\d+ warnings? and )?(\d+) (error)s? generated.*$`)
	warningCount  = regexp.MustCompile(`(?m)^\d+ warnings? generated.*\n`)
)

// readable converts clang's messages to NVRTC's form where programs depend on it: some
// take the name of a missing header from the log, and add the header.
func (p *program) readable(log, dir string) string {
	log = strings.NewReplacer(filepath.Join(dir, deep)+"/", "", filepath.Join(dir, "standard")+"/", "", dir+"/", "", "heddle_rtc_", "").Replace(log)
	log = missingHeader.ReplaceAllString(log, `${1}catastrophic error: cannot open source file "$2"`)
	log = warningCount.ReplaceAllString(log, "")
	return errorCount.ReplaceAllStringFunc(log, func(line string) string {
		n := errorCount.FindStringSubmatch(line)[1]
		if n != "1" {
			n += " errors"
		} else {
			n += " error"
		}
		return fmt.Sprintf("%s detected in the compilation of %q.", n, p.name)
	})
}
