package checkpoint

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// Header says what a checkpoint belongs to. It is the second line of the file, as JSON.
type Header struct {
	// Heddle is the version, Build the digest of the program, which alone can read the rest.
	Heddle string `json:"heddle"`
	Build  string `json:"build"`
	// GPU is the name of the machine, Machine the digest of its configuration and of the flags that matter to results.
	GPU     string `json:"gpu"`
	Machine string `json:"machine"`
	// Input is the name of what runs, Content the digest of its files.
	Input   string `json:"input"`
	Content string `json:"content"`
	// Launches have ended at the core cycle Cycle.
	Launches int    `json:"launches"`
	Cycle    uint64 `json:"cycle"`
}

// magic is the first line of a file. What follows the header is compressed (zstd), and the last bytes are the digest of all
// before them (SHA-256).
const magic = "heddle-checkpoint/1\n"

// mostHeader bounds the header's line, and mostWindow the memory for decompression (our choice).
const (
	mostHeader = 1 << 16
	mostWindow = 64 << 20
)

// Write writes a checkpoint to a file, in place of an earlier one once it is complete. What body writes follows the header.
func Write(path string, h Header, body func(w io.Writer) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = f.Close()
			_ = os.Remove(f.Name()) // what is there is not complete
		}
	}()
	sum := sha256.New()
	w := bufio.NewWriterSize(io.MultiWriter(f, sum), 1<<16)
	line, err := json.Marshal(h)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, "%s%s\n", magic, line); err != nil {
		return err
	}
	z, err := zstd.NewWriter(w, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return err
	}
	if err := errors.Join(body(z), z.Close(), w.Flush()); err != nil {
		return err
	}
	if _, err := f.Write(sum.Sum(nil)); err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), f.Chmod(0o644), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// Read reads a checkpoint that must belong to what want says, but for the launches and the cycle. Body reads what Write's
// body has written, unless the file is refused before. Errors name the file, and say what to do.
func Read(path string, want Header, body func(h Header, r io.Reader) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	size, err := whole(f, path)
	if err != nil {
		return err
	}
	r := bufio.NewReaderSize(io.NewSectionReader(f, int64(len(magic)), size-int64(len(magic))), mostHeader)
	line, err := r.ReadSlice('\n')
	var h Header
	if err != nil || json.Unmarshal(line, &h) != nil {
		return broken(path)
	}
	if err := h.fits(path, want); err != nil {
		return err
	}
	z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(mostWindow), zstd.WithDecoderLowmem(true))
	if err != nil {
		return err
	}
	defer z.Close()
	if err := body(h, z); err != nil {
		return fmt.Errorf("the checkpoint %s cannot be read: %w", path, err)
	}
	return nil
}

// broken is the error for a file whose digest is not that of its contents.
func broken(path string) error {
	return fmt.Errorf("the checkpoint %s is incomplete or was changed: its checksum is not that of its contents; use another one, or run from the start", path)
}

// whole returns the bytes of a file before its digest, which must be right.
func whole(f *os.File, path string) (int64, error) {
	st, err := f.Stat()
	if err != nil {
		return 0, err
	}
	size := st.Size() - sha256.Size
	head := make([]byte, len(magic))
	if _, err := io.ReadFull(f, head); err != nil || !bytes.Equal(head, []byte(magic)) {
		return 0, fmt.Errorf("%s is no checkpoint that this version can read: these begin with %q, and heddle run --checkpoint FILE writes them", path, magic[:len(magic)-1])
	}
	if size < int64(len(magic)) {
		return 0, broken(path)
	}
	sum, have := sha256.New(), make([]byte, sha256.Size)
	if err := digest(sum, io.NewSectionReader(f, 0, size)); err != nil {
		return 0, err
	}
	if _, err := f.ReadAt(have, size); err != nil || !bytes.Equal(have, sum.Sum(nil)) {
		return 0, broken(path)
	}
	return size, nil
}

func digest(to hash.Hash, r io.Reader) error {
	_, err := io.Copy(to, r)
	return err
}

// fits returns why a checkpoint cannot be used.
func (h *Header) fits(path string, want Header) error {
	short := func(s string) string { return s[:min(12, len(s))] }
	switch {
	case h.Heddle != want.Heddle || h.Build != want.Build:
		return fmt.Errorf("the checkpoint %s was written by heddle %s, build %s, and this is heddle %s, build %s: only the same build can go on from it; use that one, or run from the start",
			path, h.Heddle, short(h.Build), want.Heddle, short(want.Build))
	case h.Content != want.Content:
		return fmt.Errorf("the checkpoint %s is one of a run of %s, and this is a run of %s with other contents: give the same input, or run from the start", path, h.Input, want.Input)
	case h.Machine != want.Machine:
		return fmt.Errorf("the checkpoint %s is one of a run on %s with other settings or other flags than this run on %s: give the same --gpu, --core, -C, --code, --kernels, --series and --sample, or run from the start",
			path, h.GPU, want.GPU)
	}
	return nil
}

// Build returns the digest of the running program.
var Build = sync.OnceValues(func() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	if err := digest(sum, f); err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", sum.Sum(nil)), nil
})
