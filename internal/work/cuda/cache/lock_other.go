//go:build !unix

package cache

import (
	"errors"
	"os"
)

// tryLock has no way to lock a file here.
func tryLock(*os.File) error { return errors.ErrUnsupported }
