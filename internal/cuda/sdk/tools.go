package sdk

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Tools are the names of the programs that clang calls and this package stands
// in for.
var Tools = []string{"ptxas", "fatbinary"}

// RunTool does what clang asks of one of Tools. As ptxas it passes PTX on
// unchanged in place of machine code; as fatbinary it makes a fat binary that
// holds each distinct PTX text once.
func RunTool(name string, args []string) error {
	switch name {
	case "ptxas":
		return ptxas(args)
	case "fatbinary":
		return fatbinary(args)
	}
	return fmt.Errorf("there is no tool %q", name)
}

// ptxas copies its input to its output.
func ptxas(args []string) error {
	var in, out string
	for i := 0; i < len(args); i++ {
		switch arg := args[i]; {
		case arg == "--output-file" || arg == "-o":
			if i++; i == len(args) {
				return fmt.Errorf("%s: a file name is missing", arg)
			}
			out = args[i]
		case arg == "--gpu-name" || arg == "-arch" || arg == "--maxrregcount":
			i++
		case strings.HasPrefix(arg, "-"):
		case in != "":
			return fmt.Errorf("one input is expected, not %s and %s", in, arg)
		default:
			in = arg
		}
	}
	if in == "" || out == "" {
		return fmt.Errorf("an input and --output-file are needed")
	}
	text, err := os.ReadFile(in)
	if err != nil {
		return err
	}
	return os.WriteFile(out, text, 0o666)
}

// image is one of fatbinary's inputs.
type image struct {
	sm   uint32
	text []byte
}

// fatbinary puts the PTX texts of its images into one file.
func fatbinary(args []string) error {
	var out string
	var images []image
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if arg == "--create" {
			if i++; i == len(args) {
				return fmt.Errorf("--create: a file name is missing")
			}
			out = args[i]
			continue
		}
		if v, ok := strings.CutPrefix(arg, "--create="); ok {
			out = v
			continue
		}
		opt, list, ok := strings.Cut(arg, "=")
		if !ok || opt != "--image" && opt != "--image3" {
			continue
		}
		img, err := readImage(list)
		if err != nil {
			return fmt.Errorf("%s: %w", arg, err)
		}
		seen := false
		for _, other := range images {
			seen = seen || bytes.Equal(other.text, img.text)
		}
		if !seen {
			images = append(images, img)
		}
	}
	if out == "" || len(images) == 0 {
		return fmt.Errorf("--create and at least one --image are needed")
	}
	return os.WriteFile(out, container(images), 0o666)
}

// readImage reads what profile=sm_70,file=NAME or kind=elf,sm=70,file=NAME names.
func readImage(list string) (image, error) {
	var img image
	var file string
	for _, item := range strings.Split(list, ",") {
		key, value, _ := strings.Cut(item, "=")
		switch key {
		case "file":
			file = value
		case "profile", "sm":
			digits := strings.TrimPrefix(strings.TrimPrefix(value, "sm_"), "compute_")
			n, err := strconv.ParseUint(strings.TrimRight(digits, "af"), 10, 16)
			if err != nil {
				return image{}, fmt.Errorf("%q names no architecture", value)
			}
			img.sm = uint32(n)
		}
	}
	if file == "" || img.sm == 0 {
		return image{}, fmt.Errorf("a file and an architecture are needed")
	}
	text, err := os.ReadFile(file)
	img.text = renameStatics(text)
	return img, err
}

// The name that clang gives a static variable of relocatable device code when it
// knows that host code uses it, and the names in PTX.
var (
	staticName = regexp.MustCompile(`(?m)^\.visible .*?([\w$]+)(__static__[0-9a-f]+)\b`)
	ptxName    = regexp.MustCompile(`[\w$]+`)
)

// renameStatics mends what clang does to static variables of relocatable device
// code: kernels that come before the first use by host code have the variable's
// old name, which is then declared as one of another file.
func renameStatics(text []byte) []byte {
	if !bytes.Contains(text, []byte("__static__")) {
		return text
	}
	names := map[string][]byte{}
	for _, m := range staticName.FindAllSubmatch(text, -1) {
		names[string(m[1])] = append(slices.Clone(m[1]), m[2]...)
	}
	lines := bytes.Split(text, []byte("\n"))
	for i, line := range lines {
		old := false
		mended := ptxName.ReplaceAllFunc(line, func(word []byte) []byte {
			if name, ok := names[string(word)]; ok {
				old = true
				return name
			}
			return word
		})
		switch {
		case old && bytes.HasPrefix(line, []byte(".extern")):
			lines[i] = nil
		case old:
			lines[i] = mended
		}
	}
	return bytes.Join(lines, []byte("\n"))
}

// container is a fat binary with one PTX entry per image, uncompressed: a
// header of 16 bytes, and per entry one of 64 and the text, which ends with a
// zero byte and is padded to 8 bytes.
func container(images []image) []byte {
	const (
		magic    = 0xBA55ED50
		kindPTX  = 1
		flags    = 0x15 // 64-bit, CUDA, Linux
		headLen  = 16
		entryLen = 64
	)
	le := binary.LittleEndian
	var body []byte
	for _, img := range images {
		size := (len(img.text) + 1 + 7) &^ 7
		e := make([]byte, entryLen+size)
		le.PutUint16(e[0:], kindPTX)
		le.PutUint16(e[2:], 0x101)
		le.PutUint32(e[4:], entryLen)
		le.PutUint32(e[8:], uint32(size))
		le.PutUint32(e[28:], img.sm)
		le.PutUint32(e[32:], 64)
		le.PutUint64(e[40:], flags)
		copy(e[entryLen:], img.text)
		body = append(body, e...)
	}
	b := make([]byte, headLen, headLen+len(body))
	le.PutUint32(b[0:], magic)
	le.PutUint16(b[4:], 1)
	le.PutUint16(b[6:], headLen)
	le.PutUint64(b[8:], uint64(len(body)))
	return append(b, body...)
}

// Soname is the name under which a program asks for the CUDA runtime.
const Soname = "libcudart.so.12"

// DriverSoname is that of the driver.
const DriverSoname = "libcuda.so.1"
