package main

import (
	"errors"
	"image/color"
	"math"
	"strconv"

	"github.com/resvec/resvec/examples/internal/picture"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

const (
	width       = 9.5 * vg.Inch
	height      = 2.6 * vg.Inch // of a row
	panelsInRow = 3
)

// looks are how the engines are drawn: colors of the palette by Okabe and Ito, which
// people with any color vision can distinguish, and dashes and glyphs for prints in gray.
var looks = []struct {
	name  string
	time  func(result) float64
	color color.RGBA
	glyph draw.GlyphDrawer
	dash  []vg.Length
}{
	{"loops", func(r result) float64 { return r.loops.elapsed.Seconds() },
		color.RGBA{0xD5, 0x5E, 0x00, 0xFF}, draw.BoxGlyph{}, []vg.Length{6, 3}},
	{"proof", func(r result) float64 { return r.proof.elapsed.Seconds() },
		color.RGBA{0x00, 0x72, 0xB2, 0xFF}, draw.CircleGlyph{}, nil},
}

// writePicture draws the times against the number of nodes, a panel an action.
func writePicture(path string, results []result) error {
	if len(results) == 0 {
		return errors.New("nothing to draw")
	}
	var rows [][]*plot.Plot
	low, high := decades(results)
	legend := picture.NewLegend()
	named := legend
	for i, s := range stories {
		p, err := panel(s.action, results, low, high, named)
		if err != nil {
			return err
		}
		if i+panelsInRow >= len(stories) {
			p.X.Label.Text = "nodes (log scale)"
		}
		if named = nil; i%panelsInRow == 0 { // each engine is named once
			p.Y.Label.Text = "time (log scale)"
			rows = append(rows, nil)
		}
		rows[i/panelsInRow] = append(rows[i/panelsInRow], p)
	}
	canvas := vgsvg.New(width, vg.Length(len(rows))*height)
	picture.DrawRows(canvas, rows, legend)
	return picture.WriteSVG(path, canvas)
}

// decades returns the powers of ten around all times, in seconds.
func decades(results []result) (low, high int) {
	low, high = math.MaxInt, math.MinInt
	for _, r := range results {
		for _, look := range looks {
			d := math.Log10(max(look.time(r), 1e-9))
			low, high = min(low, int(math.Floor(d))), max(high, int(math.Floor(d))+1)
		}
	}
	return low, high
}

// panel draws the times of one action, from 10^low to 10^high seconds, and names the
// lines in the legend, unless it is nil.
func panel(action string, results []result, low, high int, legend *plot.Legend) (*plot.Plot, error) {
	p := picture.NewPlot(action, "", "")
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.X.Tick.Marker = picture.Ticks(10, 100, 1000, 10_000, 100_000)
	var times plot.ConstantTicks
	for d := low; d <= high; d++ {
		times = append(times, plot.Tick{Value: math.Pow10(d), Label: second(d)})
	}
	p.Y.Tick.Marker = times
	picture.AddGrid(p)
	for _, look := range looks {
		var points plotter.XYs
		for _, r := range results {
			if r.action == action {
				points = append(points, plotter.XY{X: float64(r.nodes), Y: max(look.time(r), 1e-9)})
			}
		}
		line, glyphs, err := plotter.NewLinePoints(points)
		if err != nil {
			return nil, err
		}
		line.Color, line.Width, line.Dashes = look.color, 1.6, look.dash
		glyphs.GlyphStyle = draw.GlyphStyle{Color: look.color, Radius: 2.5, Shape: look.glyph}
		p.Add(line, glyphs)
		if legend != nil {
			legend.Add(look.name, line, glyphs)
		}
	}
	p.Y.Min, p.Y.Max = math.Pow10(low), math.Pow10(high)
	return p, nil
}

// second names 10^d seconds.
func second(d int) string {
	units := []string{"ns", "µs", "ms", "s"}
	unit := min(max(d+9, 0)/3, len(units)-1)
	return strconv.FormatFloat(math.Pow10(d+9-3*unit), 'f', -1, 64) + " " + units[unit]
}
