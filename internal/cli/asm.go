package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/internal/isa/kasm"
	"github.com/heddle-sim/heddle/internal/isa/sass"
	"github.com/heddle-sim/heddle/internal/program"
	"github.com/heddle-sim/heddle/internal/work/job"
)

// asmCmd is `heddle asm`.
type asmCmd struct {
	File     string `arg:"" name:"file" help:"A program: SASS (.sass) or of the Kepler-style core (.kasm)."`
	Out      string `short:"o" name:"out" default:"-" placeholder:"FILE" help:"The output: words of 16 hex digits, for SASS two per line with the low one first, for the Kepler-style core one; - is standard output."`
	Cubin    bool   `name:"cubin" help:"Write SASS as a cubin, which -o names: kernels, data, constants, symbols and lines of the source."`
	Arch     string `placeholder:"NAME" help:"The architecture of SASS without .arch: ${sass_archs}."`
	Encoding string `default:"rtl" placeholder:"NAME" help:"Opcode numbers of the Kepler-style core: rtl (the default) or datasheet (table 3 of its datasheet)."`
}

// encoding checks --encoding.
func encoding(name string) (kasm.Encoding, error) {
	enc, ok := kasm.EncodingByName(name)
	if !ok {
		return enc, oneOf("--encoding", name, "rtl", "datasheet")
	}
	return enc, nil
}

// sassArch parses --arch; it returns 0 if the flag was not given.
func sassArch(name string) (sass.Arch, error) {
	if name == "" {
		return 0, nil
	}
	arch, err := sass.ParseArch(name)
	if err != nil {
		return 0, usage("--arch: %w", err)
	}
	return arch, nil
}

// readProgram reads the file given on the command line.
func readProgram(path string) (string, error) {
	b, err := job.ReadFile(path)
	if err != nil {
		if cause := errors.Unwrap(err); cause != nil {
			err = cause
		}
		return "", usage("cannot read %s: %w", path, err)
	}
	return string(b), nil
}

// writeOut writes to a file, or to standard output.
func writeOut(e env, path, text string) error {
	if path == "-" {
		_, err := e.stdout.Write([]byte(text))
		return err
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		return usage("--out: %w", err)
	}
	return nil
}

// beside names what a program has that is not in the words of its kernels, "" if nothing.
func beside(f *sass.File) string {
	var list []string
	for _, x := range []struct {
		what string
		has  bool
	}{
		{"variables (.data, .variable)", len(f.Data)+len(f.Variables) > 0},
		{"constants that its kernels share (.bank)", slices.ContainsFunc(f.Banks[:], func(b []byte) bool { return len(b) > 0 })},
		{"addresses in its code (.address)", len(f.Addresses) > 0},
	} {
		if x.has {
			list = append(list, x.what)
		}
	}
	return strings.Join(list, ", ")
}

// archNames are the architectures of SASS, for help.
func archNames() string {
	var list []string
	for _, a := range sass.Archs() {
		list = append(list, a.String())
	}
	return strings.Join(list, ", ")
}

// Run assembles the program.
func (c *asmCmd) Run(e env) error {
	enc, err := encoding(c.Encoding)
	if err != nil {
		return err
	}
	arch, err := sassArch(c.Arch)
	if err != nil {
		return err
	}
	text, err := readProgram(c.File)
	if err != nil {
		return err
	}
	if strings.EqualFold(filepath.Ext(c.File), ".sass") {
		f, err := sass.Parse(c.File, text, arch)
		if err != nil {
			return &exitError{code: exitUsage, err: err}
		}
		if !c.Cubin {
			if what := beside(f); what != "" {
				fmt.Fprintf(e.stderr, "heddle: %s has %s: a file of words has no place for them; --cubin writes a file that keeps them\n", c.File, what)
			}
			return writeOut(e, c.Out, sass.FormatHex(f))
		}
		b, err := program.WriteCubin(f)
		if err != nil {
			return &exitError{code: exitUsage, err: fmt.Errorf("%s: %w", c.File, err)}
		}
		return writeOut(e, c.Out, string(b))
	}
	if c.Cubin {
		return usage("--cubin applies to SASS (.sass); %s is a program of the Kepler-style core", c.File)
	}
	if arch != 0 {
		return usage("--arch applies to SASS (.sass); %s is a program of the Kepler-style core", c.File)
	}
	prog, err := kasm.Assemble(c.File, text, enc)
	if err != nil {
		return &exitError{code: exitUsage, err: err}
	}
	return writeOut(e, c.Out, kasm.FormatHex(prog.Words, enc))
}
