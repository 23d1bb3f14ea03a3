package sdk

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// registers is the prefix of the functions with which objects with relocatable device
// code register their fat binaries.
const registers = "__cudaRegisterLinkedBinary"

// Relocatable returns the names of the registration functions that an object references.
// There are none if its device code is complete, or if the file is not ELF but something
// else that linkers accept, such as LLVM IR.
func Relocatable(object []byte) ([]string, error) {
	if !bytes.HasPrefix(object, []byte(elf.ELFMAG)) {
		return nil, nil
	}
	f, err := elf.NewFile(bytes.NewReader(object))
	if err != nil {
		return nil, err
	}
	symbols, err := f.Symbols()
	if err != nil && !errors.Is(err, elf.ErrNoSymbols) {
		return nil, err
	}
	var names []string
	for _, s := range symbols {
		if s.Section == elf.SHN_UNDEF && strings.HasPrefix(s.Name, registers) && !slices.Contains(names, s.Name) {
			names = append(names, s.Name)
		}
	}
	return names, nil
}

// Archived returns the objects of an archive (.a) that reference registration functions;
// the linker handles all others.
func Archived(archive []byte) ([][]byte, error) {
	const (
		magic   = "!<arch>\n"
		headLen = 60 // name 16, date 12, owner 6, group 6, mode 8, size 10, end 2 bytes
	)
	rest, ok := bytes.CutPrefix(archive, []byte(magic))
	if !ok {
		return nil, nil // a thin archive, or a linker script
	}
	var list [][]byte
	for len(rest) >= headLen {
		head := rest[:headLen]
		size, err := strconv.ParseUint(strings.TrimSpace(string(head[48:58])), 10, 32)
		if err != nil || string(head[58:]) != "`\n" || size > uint64(len(rest)-headLen) {
			return nil, errors.New("invalid archive")
		}
		member := rest[headLen:][:size]
		rest = rest[headLen:][size:]
		if size%2 == 1 && len(rest) > 0 {
			rest = rest[1:]
		}
		if names, err := Relocatable(member); err == nil && len(names) > 0 {
			list = append(list, member)
		}
	}
	return list, nil
}

// DeviceCode returns the fat binary of an object with relocatable device code.
func DeviceCode(object []byte) ([]byte, error) {
	f, err := elf.NewFile(bytes.NewReader(object))
	if err != nil {
		return nil, err
	}
	section := f.Section("__nv_relfatbin")
	if section == nil {
		return nil, errors.New("the object has no section __nv_relfatbin with device code")
	}
	return section.Data()
}

// Part is an object whose device code is linked with that of others.
type Part struct {
	Register string // its registration function
	Code     string // a file with its fat binary, if the object may not be linked
}

// Join returns a C file that defines the functions of parts: before main, when all
// objects that are certainly linked have called theirs, the fat binaries of all parts are
// registered as one module, whose texts the runtime links, and every object then
// registers its kernels with it. The upper half of an object's handle is the index of its
// part.
func Join(parts []Part) string {
	var b strings.Builder
	var codes []string
	waiting := 0
	for i, p := range parts {
		if p.Code == "" {
			codes = append(codes, "0")
			waiting++
			continue
		}
		codes = append(codes, fmt.Sprintf("code%d", i))
		fmt.Fprintf(&b, "extern char code%d[] __attribute__((visibility(\"hidden\")));\n", i)
		fmt.Fprintf(&b, "__asm__(\".pushsection .rodata\\n.balign 8\\ncode%d:\\n.incbin \\\"%s\\\"\\n.popsection\");\n", i, p.Code)
	}
	fmt.Fprintf(&b, `struct wrapper { int magic, version; void *data, **list; };
extern void **__cudaRegisterFatBinary(void *);
extern void __cudaRegisterFatBinaryEnd(void **);
extern void __cudaUnregisterFatBinary(void **);
extern int atexit(void (*)(void));
enum { count = %d };
static void (*globals[count])(void **);
static void *data[count + 1] = {%s}, **handle;
static int waiting = %d;
static struct wrapper all = {0x466243b1, 2, 0, data};
static void leave(void) { __cudaUnregisterFatBinary(handle); }
static void tell(int i) { globals[i]((void **)((unsigned long)handle | (unsigned long)i << 32)); }
static void join(int i, void (*g)(void **), struct wrapper *w) {
  globals[i] = g;
  if (!data[i]) {
    data[i] = w->data;
    waiting--;
  }
  if (handle) tell(i);
  if (handle || waiting) return;
  all.data = data[0];
  handle = __cudaRegisterFatBinary(&all);
  for (int k = 0; k < count; k++)
    if (globals[k]) tell(k);
  __cudaRegisterFatBinaryEnd(handle);
  atexit(leave);
}
`, len(parts), strings.Join(append(codes, "0"), ", "), waiting)
	for i, p := range parts {
		fmt.Fprintf(&b, "void %s(void (*g)(void **), void *w, void *id, void *use) { join(%d, g, w); }\n", p.Register, i)
	}
	return b.String()
}
