// Package picture draws and writes the pictures of the examples: plots next to each other
// on one white background, which can be read on dark pages too.
package picture

import (
	"bytes"
	"fmt"
	"image/color"
	"io"
	"math"
	"os"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Margin is how far a picture's contents are from its edges.
const Margin = vg.Length(12)

// Sans is the font of all pictures.
func Sans(size vg.Length) font.Font {
	return font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
}

// NewPlot returns a plot without a background of its own.
func NewPlot(title, x, y string) *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, x, y
	p.Title.TextStyle.Font = Sans(11)
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Label.TextStyle.Font, axis.Tick.Label.Font = Sans(10), Sans(9)
	}
	return p
}

// AddGrid draws light lines at the ticks.
func AddGrid(p *plot.Plot) {
	grid := plotter.NewGrid()
	grid.Horizontal.Color, grid.Vertical.Color = color.Gray{0xD8}, color.Gray{0xE8}
	p.Add(grid)
}

// NewLegend returns a legend to be drawn next to plots.
func NewLegend() *plot.Legend {
	legend := plot.NewLegend()
	legend.TextStyle.Font, legend.Padding, legend.ThumbnailWidth = Sans(10), 6, 30
	legend.Top, legend.Left = true, true
	return &legend
}

// Ticks returns ticks with labels of one format: 0.5, 1, 20,000.
func Ticks(values ...float64) plot.ConstantTicks {
	var ticks plot.ConstantTicks
	for _, x := range values {
		label := strconv.FormatFloat(x, 'f', -1, 64)
		if n := int(x); n >= 1000 {
			label = fmt.Sprintf("%d,%03d", n/1000, n%1000)
		}
		ticks = append(ticks, plot.Tick{Value: x, Label: label})
	}
	return ticks
}

// Draw draws plots next to each other: axes, titles and labels at one height, and the
// legend, unless it is nil, right of them.
func Draw(canvas vg.CanvasSizer, plots []*plot.Plot, legend *plot.Legend) {
	DrawRows(canvas, [][]*plot.Plot{plots}, legend)
}

// DrawRows draws rows of as many plots, below each other.
func DrawRows(canvas vg.CanvasSizer, rows [][]*plot.Plot, legend *plot.Legend) {
	whole := draw.New(canvas)
	Background(whole)
	inner := draw.Crop(whole, Margin, -Margin, Margin, -Margin)
	if legend != nil {
		width := legend.Rectangle(inner).Size().X
		legend.Draw(draw.Crop(inner, inner.Size().X-width, 0, 0, -titleHeight))
		inner = draw.Crop(inner, 0, -width-Margin, 0, 0)
	}
	height := inner.Size().Y / vg.Length(len(rows))
	for i, plots := range rows {
		top, bottom := vg.Length(i)*height, vg.Length(len(rows)-1-i)*height
		if i > 0 {
			top += Margin
		}
		drawRow(draw.Crop(inner, 0, 0, bottom, -top), plots)
	}
}

// titleHeight is the height of a line with a title or a label.
const titleHeight = vg.Length(18)

// drawRow draws plots next to each other.
func drawRow(inner draw.Canvas, plots []*plot.Plot) {
	const line = titleHeight
	// The plots get their titles and labels here: their own are at different heights, and
	// a label on a logarithmic axis takes room where it is not.
	tiles := draw.Tiles{Rows: 1, Cols: len(plots), PadX: 1.5 * Margin, PadLeft: line, PadRight: Margin / 2, PadTop: line, PadBottom: line}
	titles, xs, ys := make([]string, len(plots)), make([]string, len(plots)), make([]string, len(plots))
	for i, p := range plots {
		titles[i], xs[i], ys[i] = p.Title.Text, p.X.Label.Text, p.Y.Label.Text
		p.Title.Text, p.X.Label.Text, p.Y.Label.Text = "", "", ""
		if i > 0 && ys[i] != "" {
			tiles.PadX = line + Margin
		}
	}
	for i, c := range plot.Align([][]*plot.Plot{plots}, tiles, inner)[0] {
		p := plots[i]
		p.Draw(c)
		data := p.DataCanvas(c)
		center := data.Center()
		write := func(style text.Style, y text.YAlignment, at vg.Point, line string) {
			style.XAlign, style.YAlign = draw.XCenter, y
			inner.FillText(style, at, line)
		}
		write(p.Title.TextStyle, draw.YTop, vg.Point{X: center.X, Y: inner.Max.Y}, titles[i])
		write(p.X.Label.TextStyle, draw.YBottom, vg.Point{X: center.X, Y: inner.Min.Y}, xs[i])
		upward := p.Y.Label.TextStyle
		upward.Rotation = math.Pi / 2
		write(upward, draw.YBottom, vg.Point{X: c.Min.X - 6, Y: center.Y}, ys[i])
	}
}

// Background paints the background of all pictures.
func Background(c draw.Canvas) {
	c.SetColor(color.White)
	c.Fill(c.Rectangle.Path())
}

// WriteSVG writes a picture to a file. An error leaves the file as far as it is written.
func WriteSVG(path string, canvas *vgsvg.Canvas) error {
	image, err := SVG(canvas)
	if err != nil {
		return err
	}
	return os.WriteFile(path, image, 0o644)
}

// SVG returns a picture. Where its font is missing, fonts of the same widths are taken.
func SVG(canvas io.WriterTo) ([]byte, error) {
	var image bytes.Buffer
	_, err := canvas.WriteTo(&image)
	const family = "font-family:Liberation Sans"
	return bytes.ReplaceAll(image.Bytes(), []byte(family), []byte(family+",Arial,Helvetica,sans-serif")), err
}
