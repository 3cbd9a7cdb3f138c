// Package picture writes the pictures of the examples.
package picture

import (
	"io"
	"os"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
)

// Sans is the font of all pictures.
func Sans(size vg.Length) font.Font {
	return font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
}

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
