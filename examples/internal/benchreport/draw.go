package main

import (
	"errors"
	"image/color"
	"math"

	"github.com/resvec/resvec/examples/internal/picture"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// look is how an implementation is drawn. The colors are of the palette by Okabe
// and Ito, which people with any color vision can distinguish; their lightness,
// the glyphs and the dashes differ too, for prints in gray.
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

// drawFit draws Fit by size: against the row loop and against the roof. The legend of
// both stands next to them.
func drawFit(all *results) ([]byte, error) {
	rows := all.where("Ratio", map[string]string{"kernel": "Fit", "cols": "8", "requested": ""})
	if len(rows) == 0 {
		return nil, errors.New("no results of BenchmarkRatio for Fit with 8 columns")
	}
	legend := picture.NewLegend()
	against := newPlot("Fit, 8 columns, against the row loop", "times as fast (log scale)",
		picture.Ticks(0.5, 1, 2, 5, 10, 20, 50, 100, 200))
	against.Y.Scale = plot.LogScale{}
	if _, ok := all.credible(rowLoopTime, rowLoopBand); ok {
		if err := addLines(against, legend, rows, func(r row) float64 { return r.per(kernelTime, rowLoopTime) }); err != nil {
			return nil, err
		}
	}
	roof := newPlot("Fit, 8 columns, against the roof, which only loads the amounts", "times as fast",
		picture.Ticks(0, 0.5, 1, 1.5, 2, 2.5, 3))
	if err := addLines(roof, nil, rows, func(r row) float64 { return r.per(kernelTime, roofTime) }); err != nil {
		return nil, err
	}
	canvas := vgsvg.New(10*vg.Inch, 3.6*vg.Inch)
	picture.Draw(canvas, []*plot.Plot{against, roof}, legend)
	return picture.SVG(canvas)
}

// newPlot returns a plot by number of nodes, from the first tick to the last.
func newPlot(title, y string, values plot.ConstantTicks) *plot.Plot {
	p := picture.NewPlot(title, "nodes (log scale)", y)
	p.X.Scale = plot.LogScale{}
	p.X.Min, p.X.Max, p.X.Tick.Marker = 10, 100000, picture.Ticks(10, 100, 1000, 10000, 100000)
	p.Y.Min, p.Y.Max, p.Y.Tick.Marker = values[0].Value, values[len(values)-1].Value, values
	picture.AddGrid(p)
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
