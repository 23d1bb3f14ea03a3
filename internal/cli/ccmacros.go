package cli

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"

	"github.com/heddle-sim/heddle/internal/work/cuda/sdk"
)

// macrosAfterHeaders defines a program's own macros in a file that is included
// first (sdk.OwnMacros). The file is in the SDK's folder under a name derived from
// its contents, so that the same command line gives the same call of clang.
func (c *ccCall) macrosAfterHeaders(kit sdk.SDK) error {
	others, lines := sdk.OwnMacros(c.flags)
	if lines == "" {
		return nil
	}
	sum := sha256.Sum256([]byte(lines))
	dir := filepath.Join(kit.Dir, "macros")
	file := filepath.Join(dir, hex.EncodeToString(sum[:8])+".h")
	c.flags = append([]string{"-include", file}, others...)
	if _, err := os.Stat(file); err == nil {
		return nil
	}
	// Another call may create the same file, so it must appear complete.
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(dir, "new-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	whole := filepath.Join(tmp, "macros.h")
	if err := os.WriteFile(whole, []byte(lines), 0o666); err != nil {
		return err
	}
	return os.Rename(whole, file)
}
