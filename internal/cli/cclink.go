package cli

import (
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/internal/work/cuda/sdk"
)

// fixed returns linker flags for a program with managed variables. The device
// accesses them at the host's addresses; if these are the same in every run, so is
// the number of cycles. They are above the addresses of shared and local memory in
// kernels.
func (c *ccCall) fixed() []string {
	own := func(f string) bool {
		return strings.HasPrefix(f, "-fuse-ld") || slices.Contains([]string{"-shared", "-pie", "-no-pie", "-static-pie", "-r"}, f)
	}
	if slices.ContainsFunc(c.flags, own) || !slices.ContainsFunc(c.files, hasManaged) {
		return nil
	}
	return []string{"-no-pie", "-Wl,-Ttext-segment=0x10000000"}
}

// hasManaged reports whether an object has the section of managed variables. Every
// CUDA object refers to the section's ends, so its name alone proves nothing.
func hasManaged(file string) bool {
	if filepath.Ext(file) != ".o" {
		return false
	}
	f, err := elf.Open(file)
	if err != nil {
		return false // the linker reports the error
	}
	defer f.Close()
	return f.Section("heddle_managed") != nil
}

// relocatable finds the objects whose kernels must be joined. Those in archives are
// extracted to files in a folder, because they are needed whole; for another
// linker, which selects members itself, only their device code is extracted.
func (c *ccCall) relocatable(dir string) ([]sdk.Part, error) {
	var parts []sdk.Part
	var files []string
	archives := map[string]bool{} // build systems name some twice
	for _, file := range append(slices.Clone(c.files), c.archives()...) {
		ending := filepath.Ext(file)
		if ending != ".o" && ending != ".a" {
			files = append(files, file)
			continue
		}
		if ending == ".a" && archives[absolute(file)] {
			continue
		}
		archives[absolute(file)] = true
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
			member := filepath.Join(dir, fmt.Sprintf("%s-%d-%d", filepath.Base(file), len(files), i))
			code := ""
			switch {
			case ending == ".a" && c.dlink:
				code = member + ".fatbin"
				if object, err = sdk.DeviceCode(object); err != nil {
					return nil, usage("cc: %s: %w", file, err)
				}
				err = os.WriteFile(code, object, 0o666)
			case ending == ".a":
				files = append(files, member+".o")
				err = os.WriteFile(member+".o", object, 0o666)
			}
			if err != nil {
				return nil, usage("cc: %w", err)
			}
			for _, name := range list {
				parts = append(parts, sdk.Part{Register: name, Code: code})
			}
		}
		if slices.Contains(c.files, file) {
			files = append(files, file)
		}
	}
	c.files = files
	return parts, nil
}

// archives returns the files of -lNAME that are archives without a shared library
// of the same name in the folder.
func (c *ccCall) archives() []string {
	var list []string
	for i, flag := range c.link {
		name, ok := strings.CutPrefix(flag, "-l")
		if !ok {
			continue
		}
		if name == "" && i+1 < len(c.link) {
			name = c.link[i+1]
		}
		for _, folder := range c.folders() {
			if whole, ok := strings.CutPrefix(name, ":"); ok {
				file := filepath.Join(folder, whole)
				if _, err := os.Stat(file); err == nil {
					if filepath.Ext(file) == ".a" {
						list = append(list, file)
					}
					break
				}
				continue
			}
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

// folders are the folders of -L.
func (c *ccCall) folders() []string {
	var list []string
	for i, flag := range c.link {
		switch folder, ok := strings.CutPrefix(flag, "-L"); {
		case ok && folder != "":
			list = append(list, folder)
		case ok && i+1 < len(c.link):
			list = append(list, c.link[i+1])
		}
	}
	return list
}

// nvidiaLibraries are NVIDIA's libraries that programs are linked with, by prefixes
// of their linker names.
var nvidiaLibraries = []struct{ prefix, name string }{
	{"cufftw", "cuFFT's interface of FFTW"}, {"cusolver", "cuSOLVER"},
	{"cudnn", "cuDNN"}, {"nccl", "NCCL"}, {"npp", "NPP"}, {"nvjpeg", "nvJPEG"},
	{"cutensor", "cuTENSOR"}, {"nvgraph", "nvGRAPH"}, {"nvshmem", "NVSHMEM"},
}

// explainLibraries explains for libraries that the linker did not find that they
// are NVIDIA's and not available, if they are.
func (b *ccBuild) explainLibraries() {
	for i, flag := range b.link {
		name, ok := strings.CutPrefix(flag, "-l")
		if ok && name == "" && i+1 < len(b.link) {
			name = b.link[i+1]
		}
		for _, lib := range nvidiaLibraries {
			if ok && strings.HasPrefix(name, lib.prefix) && !b.hasLibrary(name) {
				fmt.Fprintf(b.e.stderr, "heddle: -l%s: %s is NVIDIA's own and not provided; link a library with the same functions with -L and -l\n", name, lib.name)
			}
		}
	}
}

// hasLibrary reports whether a library is in a folder of the command line, among those
// that Heddle provides, or in a folder of the linker's own.
func (b *ccBuild) hasLibrary(name string) bool {
	for _, file := range []string{"lib" + name + ".so", "lib" + name + ".a"} {
		for _, folder := range append(b.folders(), b.kit.Lib()) {
			if _, err := os.Stat(filepath.Join(folder, file)); err == nil {
				return true
			}
		}
		if b.kit.Clang.Finds(b.e.ctx, file) {
			return true
		}
	}
	return false
}
