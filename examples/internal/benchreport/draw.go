package main

import (
	"bytes"
	"errors"
	"image/color"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// look is how an implementation is drawn. The colours are of the palette by Okabe
// and Ito, which people with any colour vision can tell apart; their lightness,
// the glyphs and the dashes differ too, for those who print in grey.
type look struct {
	impl  string
	name  string
	color color.RGBA
	glyph draw.GlyphDrawer
	dash  []vg.Length
}

var looks = []look{
	{"avx512", "AVX-512", color.RGBA{0x00, 0x72, 0xB2, 0xFF}, draw.CircleGlyph{}, nil},
	{"avx2", "AVX2", color.RGBA{0xD5, 0x5E, 0x00, 0xFF}, draw.BoxGlyph{}, []vg.Length{6, 3}},
	{"generic", "pure Go", color.RGBA{0x00, 0x00, 0x00, 0xFF}, draw.PyramidGlyph{}, []vg.Length{2, 2}},
}

const (
	width       = 10 * vg.Inch
	height      = 3.6 * vg.Inch
	legendWidth = 0.9 * vg.Inch
)

// picture draws Fit by size: against the row loop and against the roof. The legend of
// both stands beside them, and one background lies below all.
func picture(all *results) ([]byte, error) {
	rows := all.where("Ratio", map[string]string{"kernel": "Fit", "cols": "8", "requested": ""})
	if len(rows) == 0 {
		return nil, errors.New("no results of BenchmarkRatio for Fit with 8 columns")
	}
	legend := plot.NewLegend()
	legend.TextStyle.Font = font.Font{Typeface: "Liberation", Variant: "Sans", Size: 10}
	legend.Padding, legend.Top, legend.Left = 6, true, true

	against := newPlot("Fit, 8 columns: times as fast as the row loop", "times (log scale)")
	against.Y.Scale = plot.LogScale{}
	against.Y.Min, against.Y.Max = 0.5, 200
	against.Y.Tick.Marker = ticks(0.5, 1, 2, 5, 10, 20, 50, 100, 200)
	if _, ok := all.credible(rowLoopTime, rowLoopBand); ok {
		if err := addLines(against, &legend, rows, func(r row) float64 { return r.per(kernelTime, rowLoopTime) }); err != nil {
			return nil, err
		}
	}
	roof := newPlot("Fit, 8 columns: times as fast as loading the amounts", "times the roof")
	roof.Y.Min, roof.Y.Max = 0, 3
	roof.Y.Tick.Marker = ticks(0, 0.5, 1, 1.5, 2, 2.5, 3)
	if err := addLines(roof, nil, rows, func(r row) float64 { return r.per(kernelTime, roofTime) }); err != nil {
		return nil, err
	}

	image := vgsvg.New(width, height)
	canvas := draw.New(image)
	canvas.SetColor(color.White)
	canvas.Fill(canvas.Rectangle.Path())
	tiles := draw.Tiles{Rows: 1, Cols: 2, PadX: vg.Millimeter * 6, PadTop: 6, PadBottom: 6, PadLeft: 6, PadRight: 6}
	for j, p := range []*plot.Plot{against, roof} {
		p.Draw(tiles.At(draw.Crop(canvas, 0, -legendWidth, 0, 0), j, 0))
	}
	legend.Draw(draw.Crop(canvas, width-legendWidth, 0, 0, -30))
	var b bytes.Buffer
	_, err := image.WriteTo(&b)
	return b.Bytes(), err
}

func newPlot(title, y string) *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil // that of the picture
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, "nodes (log scale)", y
	p.Title.TextStyle.Font = font.Font{Typeface: "Liberation", Variant: "Sans", Size: 11}
	p.Title.Padding = 6
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Label.TextStyle.Font = font.Font{Typeface: "Liberation", Variant: "Sans", Size: 10}
		axis.Tick.Label.Font = font.Font{Typeface: "Liberation", Variant: "Sans", Size: 9}
	}
	p.X.Scale = plot.LogScale{}
	p.X.Tick.Marker = ticks(10, 100, 1000, 10000, 100000)
	p.X.Min, p.X.Max = 10, 100000
	grid := plotter.NewGrid()
	grid.Horizontal.Color, grid.Vertical.Color = color.Gray{0xCC}, color.Gray{0xE4}
	p.Add(grid)
	return p
}

// addLines draws one line for each implementation that has values, and names it in the
// legend if there is one.
func addLines(p *plot.Plot, legend *plot.Legend, rows []row, value func(row) float64) error {
	for _, l := range looks {
		var points plotter.XYs
		for _, r := range rows {
			if y := value(r); r.key("impl") == l.impl && !math.IsNaN(y) {
				points = append(points, plotter.XY{X: float64(r.number("nodes")), Y: y})
			}
		}
		if len(points) == 0 {
			continue
		}
		line, glyphs, err := plotter.NewLinePoints(points)
		if err != nil {
			return err
		}
		line.Color, line.Width, line.Dashes = l.color, 1.6, l.dash
		glyphs.GlyphStyle = draw.GlyphStyle{Color: l.color, Radius: 3, Shape: l.glyph}
		p.Add(line, glyphs)
		if legend != nil {
			legend.Add(l.name, line, glyphs)
		}
	}
	return nil
}

// ticks returns ticks at the given values, labelled alike: 0.5, 1, 20,000.
func ticks(values ...float64) plot.ConstantTicks {
	var all plot.ConstantTicks
	for _, x := range values {
		label := strconv.FormatFloat(x, 'f', -1, 64)
		if x >= 1000 {
			label = thousands(int(x))
		}
		all = append(all, plot.Tick{Value: x, Label: label})
	}
	return all
}
