package cli

import (
	"path/filepath"
	"strings"

	"github.com/heddle-sim/heddle/internal/isa/kasm"
	"github.com/heddle-sim/heddle/internal/isa/sass"
)

// disasmCmd is `heddle disasm`. disasmbinary.go has the part for binaries.
type disasmCmd struct {
	File     string `arg:"" name:"file" help:"A cubin, a fat binary, a program or library with device code; or words (.hex) of 16 hex digits: two per line for SASS, one for the Kepler-style core."`
	Out      string `short:"o" name:"out" default:"-" placeholder:"FILE" help:"The output; - is standard output."`
	Arch     string `placeholder:"NAME" help:"The architecture of SASS if the file does not name one, or has several: ${sass_archs}."`
	Kernel   string `placeholder:"NAME" help:"Only this kernel of a binary."`
	JSON     bool   `name:"json" help:"Write the kernels of a binary as JSON: addresses, words, control codes, texts and lines of the source."`
	Encoding string `placeholder:"NAME" help:"Opcode numbers of the Kepler-style core: rtl or datasheet; default: those that the file names, otherwise rtl."`
}

// Run disassembles the words.
func (c *disasmCmd) Run(e env) error {
	if ext := strings.ToLower(filepath.Ext(c.File)); ext == ".sass" || ext == ".kasm" {
		return usage("%s is program text; heddle disasm reads words (.hex), which heddle asm writes", c.File)
	}
	text, err := readProgram(c.File)
	if err != nil {
		return err
	}
	if isBinary([]byte(text)) {
		return c.binary(e, []byte(text))
	}
	if c.Kernel != "" || c.JSON {
		return usage("--kernel and --json are for binaries: cubins, fat binaries, and programs that hold them")
	}
	if sass.IsHex(text) || c.Arch != "" {
		arch, err := sassArch(c.Arch)
		if err != nil {
			return err
		}
		f, err := sass.ParseHex(c.File, text, arch)
		if err != nil {
			return &exitError{code: exitUsage, err: err}
		}
		return writeOut(e, c.Out, f.Text())
	}
	words, enc, err := kasm.ParseHex(c.File, text)
	if err != nil {
		return &exitError{code: exitUsage, err: err}
	}
	if c.Encoding != "" {
		if enc, err = encoding(c.Encoding); err != nil {
			return err
		}
	}
	return writeOut(e, c.Out, kasm.Disassemble(words, enc))
}
