package cli

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/work/cuda/sdk"
)

// ccCmd is `heddle cc`.
type ccCmd struct {
	Args []string `arg:"" optional:"" name:"args" help:"Files, and flags of nvcc or clang."`
}

const ccHelp = `Usage: heddle cc [flags] FILE...

Compile CUDA C++ with clang (14 or later), without NVIDIA's software.

  FILE...            .cu files; also .cpp, .c, .o, .a, .so
  -o FILE            the output
  -c                 compile to objects without linking (-odir DIR: into a folder)
  --ptx              only the PTX of the kernels (NAME.ptx, or -o)
  --sass             only their machine code by heddle ptxas, as a listing (NAME.sass,
                     or -o; -arch from sm_75 to sm_89, default sm_86)
  --fatbin           only a fat binary with PTX for each -arch (NAME.fatbin, or -o)
  -arch=sm_XX        the oldest GPU to compile kernels for (default sm_70)
  -lineinfo, -g      keep source lines for messages and reports
  --use_fast_math    approximate float functions, no float denormals
  --show, -v         print the steps (--dryrun: without executing them)
  --toolkit          print the folder that replaces NVIDIA's toolkit: its bin/nvcc
                     is this command, for CMake and other build systems

Other flags of nvcc are translated (-gencode, -Xcompiler, -dc, -dlink, -rdc,
--default-stream, -x cu ...), or ignored if they have no meaning here. All other
flags are passed to clang: -I, -D, -O, -std, -L, -l ...
Run the program with heddle cuda. The environment variable HEDDLE_CLANG selects
a compiler other than the newest on the path.
`

// ccVersion is the text by which build systems recognise nvcc and its release; some
// take the release from what follows the last V.
const ccVersion = `nvcc: NVIDIA (R) Cuda compiler driver (in its place: heddle cc %s, with %s)
Cuda compilation tools, release %d.%d, V%[3]d.%[4]d.%[5]d
`

// defaultArch is the architecture for kernels if none is given, listedArch the one for a listing of machine code.
const (
	defaultArch = "sm_70"
	listedArch  = "sm_86"
)

// nvcc is the name under which this program acts as heddle cc.
const nvcc = "nvcc"

// Run compiles the files.
func (c *ccCmd) Run(e env) error {
	call, err := parseCC(c.Args)
	if err != nil {
		return err
	}
	if call.help {
		_, err := fmt.Fprint(e.stdout, ccHelp)
		return err
	}
	if len(call.files) == 0 && !call.version && !call.toolkit {
		return usage("cc: no file to compile; see heddle cc --help")
	}
	clang, err := sdk.FindClang(e.ctx)
	if err != nil {
		return usage("cc: %w", err)
	}
	if call.version {
		_, err := fmt.Fprintf(e.stdout, ccVersion, report.Version, clang.Version, sdk.Major, sdk.Minor, sdk.Build)
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
	if call.toolkit {
		_, err := fmt.Fprintln(e.stdout, kit.Dir)
		return err
	}
	tmp, err := os.MkdirTemp("", "heddle-cc-")
	if err != nil {
		return usage("cc: %w", err)
	}
	defer os.RemoveAll(tmp)
	if call.run && len(call.files) == 1 {
		// Meson runs it like this with a finished program, quoted for another
		// shell.
		if program := strings.Trim(call.files[0], `"`); call.languageOf(program) == "" {
			return runProgram(e, self, program)
		}
	}
	b := &ccBuild{ccCall: call, e: e, kit: kit, tmp: tmp}
	if call.show {
		b.sayToolkit()
	}
	if err := call.macrosAfterHeaders(kit); err != nil {
		return usage("cc: %w", err)
	}
	call.chooseOpenMP(e, kit)
	if err := call.asClangHasIt(tmp); err != nil {
		return usage("cc: %w", err)
	}
	if call.dir != "" {
		if err := os.MkdirAll(call.dir, 0o777); err != nil {
			return usage("cc: %w", err)
		}
	}
	if err := b.build(); err != nil || !call.run || call.dry || !call.links() {
		return err
	}
	return runProgram(e, self, absolute(cmp.Or(call.out, "a.out")))
}

// runProgram runs a program on a simulated GPU, in functional mode, and exits with
// its code.
func runProgram(e env, self, program string) error {
	cmd := exec.CommandContext(e.ctx, self, "cuda", "--mode", "functional", "--quiet", "--", program)
	cmd.Args[0] = "heddle"
	cmd.Stdin, cmd.Stdout, cmd.Stderr = e.stdin, e.stdout, e.stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return &exitError{code: exit.ExitCode()}
	}
	return err
}

// asClangHasIt lets clang read sources in another spelling if they use one that
// only nvcc accepts.
func (c *ccCall) asClangHasIt(dir string) error {
	var sources, folders []string
	for _, file := range c.files {
		if c.languageOf(file) == "cuda" {
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
	var err error
	c.overlay, err = sdk.Overlay(dir, sources, folders)
	return err
}

// chooseOpenMP makes host code run on one thread if clang has no OpenMP library,
// and prints a note.
func (c *ccCall) chooseOpenMP(e env, kit sdk.SDK) {
	if !slices.ContainsFunc(c.flags, isOpenMP) || kit.Clang.HasOpenMP(e.ctx) {
		return
	}
	c.flags = slices.DeleteFunc(slices.Clone(c.flags), isOpenMP)
	if c.compile || c.ptx { // the note is printed when the program is linked
		return
	}
	fmt.Fprintf(e.stderr, "heddle: no OpenMP library: host code runs on one thread; install it with: sudo apt-get install libomp-%d-dev\n", kit.Clang.Major)
}

func isOpenMP(flag string) bool { return flag == "-fopenmp" || strings.HasPrefix(flag, "-fopenmp=") }

// asNVCC returns the arguments for a call under the name nvcc.
func asNVCC(args []string) []string {
	if len(args) > 0 && filepath.Base(args[0]) == nvcc {
		return append([]string{"cc"}, args[1:]...)
	}
	return args[1:]
}
