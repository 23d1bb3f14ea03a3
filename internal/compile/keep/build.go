package keep

import (
	"bufio"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"
	"sync"

	"github.com/heddle-sim/heddle/internal/compile"
)

// compiler is the digest of the file in which this compiler is: of the program, or of the library that the
// program is linked with.
var compiler = sync.OnceValues(func() (string, error) {
	path, err := image(uint64(reflect.ValueOf(compile.Module).Pointer()))
	if err != nil {
		return "", err
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", h.Sum(nil)), nil
})

// image is the file that is in memory at an address. A system without a list of them has no library of ours.
func image(at uint64) (string, error) {
	f, err := os.Open("/proc/self/maps")
	if err != nil {
		return os.Executable()
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		var from, to uint64
		fields := strings.Fields(s.Text())
		if len(fields) < 6 {
			continue
		}
		if n, _ := fmt.Sscanf(fields[0], "%x-%x", &from, &to); n == 2 && from <= at && at < to {
			return strings.Join(fields[5:], " "), nil
		}
	}
	return "", errors.New("no file has the compiler")
}
