// Package picture writes the pictures of the examples.
package picture

import (
	"io"
	"os"
)

// Write writes a picture to a file. An error leaves the file as far as it is written.
func Write(path string, picture io.WriterTo) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if _, err := picture.WriteTo(f); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
