package sdk

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Image is the device code of a program for one architecture.
type Image struct {
	Arch string // sm_XX
	PTX  []byte
}

// FatBinary packs images into one file, with each distinct text once.
func FatBinary(images []Image) ([]byte, error) {
	var list []image
	for _, img := range images {
		sm, err := strconv.ParseUint(strings.TrimRight(strings.TrimPrefix(img.Arch, "sm_"), "af"), 10, 16)
		if err != nil {
			return nil, fmt.Errorf("%q is not an architecture; want sm_XX", img.Arch)
		}
		text := renameStatics(img.PTX)
		if !slices.ContainsFunc(list, func(other image) bool { return bytes.Equal(other.text, text) }) {
			list = append(list, image{uint32(sm), text})
		}
	}
	if len(list) == 0 {
		return nil, errors.New("no device code to pack")
	}
	return container(list), nil
}

// image is one of a fat binary's texts.
type image struct {
	sm   uint32
	text []byte
}

// The name that clang gives to a static variable of relocatable device code that host
// code uses, and the names in PTX.
var (
	staticName = regexp.MustCompile(`(?m)^\.visible .*?([\w$]+)(__static__[0-9a-f]+)\b`)
	ptxName    = regexp.MustCompile(`[\w$]+`)
)

// renameStatics repairs static variables of relocatable device code: in kernels before
// the first use by host code, clang uses the variable's old name, which is then declared
// as external.
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
