package main

import (
	"fmt"
	"image/color"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/resvec/resvec/examples/internal/picture"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgpdf"
	"gonum.org/v1/plot/vg/vgsvg"
)

// canvases makes a canvas for each format of a picture, by the ending of the
// file name.
var canvases = map[string]func(w, h vg.Length) vg.CanvasWriterTo{
	".svg": func(w, h vg.Length) vg.CanvasWriterTo { return vgsvg.New(w, h) },
	".png": func(w, h vg.Length) vg.CanvasWriterTo {
		return vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(w, h), vgimg.UseDPI(144))}
	},
	".pdf": func(w, h vg.Length) vg.CanvasWriterTo { return vgpdf.New(w, h) },
}

// pictureFormats returns the endings of the formats of a picture.
func pictureFormats() []string { return []string{".svg", ".png", ".pdf"} }

// A look is how a policy is drawn. The colors are of the palette by Okabe and
// Ito, which people with any color vision can distinguish; dashes and glyphs
// differ too, for prints in gray.
type look struct {
	color color.NRGBA
	dash  []vg.Length
	glyph draw.GlyphDrawer
}

var looks = []look{
	{color.NRGBA{0x00, 0x00, 0x00, 0xFF}, []vg.Length{1.5, 2.5}, draw.CrossGlyph{}},
	{color.NRGBA{0xE6, 0x9F, 0x00, 0xFF}, []vg.Length{7, 2, 1.5, 2}, draw.TriangleGlyph{}},
	{color.NRGBA{0x00, 0x9E, 0x73, 0xFF}, []vg.Length{4, 2.5}, draw.SquareGlyph{}},
	{color.NRGBA{0xCC, 0x79, 0xA7, 0xFF}, []vg.Length{9, 3}, draw.RingGlyph{}},
	{color.NRGBA{0x56, 0xB4, 0xE9, 0xFF}, []vg.Length{6, 2, 2, 2, 2, 2}, draw.PyramidGlyph{}},
	{color.NRGBA{0xD5, 0x5E, 0x00, 0xFF}, nil, draw.CircleGlyph{}},
}

// A panel is a part of the picture.
type panel struct {
	title, y               string
	metric                 func(reading) float64
	left, right, low, high float64 // of what is shown, in percent
	glyphEvery             int     // percent of arrived GPUs
	ideal, legend          bool
}

// panels are the whole course, a part of it enlarged, and the fragments.
func panels(last float64, runs int) []panel {
	title := "Allocation"
	if runs > 1 {
		title = fmt.Sprintf("Allocation, mean of %d runs ± 1 sd", runs)
	}
	return []panel{
		{title: title, y: "allocated, % of GPUs", metric: metrics[0], right: last, high: 105, glyphEvery: 20, ideal: true, legend: true},
		{title: "Allocation, enlarged", y: "allocated, % of GPUs", metric: metrics[0], left: 75, right: min(last, 120), low: 72, high: 100, glyphEvery: 10, ideal: true},
		{title: "Fragmentation", y: "fragmented, % of GPUs", metric: metrics[1], right: last, glyphEvery: 20},
	}
}

const (
	pictureWidth  = 13 * vg.Inch
	pictureHeight = 4.4 * vg.Inch
)

// drawPicture draws the mean of every policy with a band of one standard deviation
// against the demand that had arrived.
func drawPicture(w io.Writer, ending string, results []*result) error {
	row := make([]*plot.Plot, 0, 3)
	legend := picture.NewLegend()
	for _, view := range panels(lastPercent(results), len(results[0].runs)) {
		if view.left >= view.right {
			continue // the demand ends before it
		}
		p, err := view.plot(results, legend)
		if err != nil {
			return err
		}
		row = append(row, p)
	}
	canvas := canvases[strings.ToLower(ending)](pictureWidth, pictureHeight)
	picture.Draw(canvas, row, legend)
	_, err := canvas.WriteTo(w)
	return err
}

// lastPercent returns the last bin of any run.
func lastPercent(results []*result) float64 {
	last := int64(1)
	for _, r := range results {
		for _, run := range r.runs {
			if bins := run.curve.bins; len(bins) > 0 {
				last = max(last, bins[len(bins)-1].percent)
			}
		}
	}
	return float64(last)
}

// plot draws one panel. One of them names the lines in the legend.
func (v *panel) plot(results []*result, legend *plot.Legend) (*plot.Plot, error) {
	p := picture.NewPlot(v.title, "arrived, % of GPUs", v.y)
	picture.AddGrid(p)
	if v.ideal {
		line, err := plotter.NewLine(plotter.XYs{{X: v.left, Y: v.left}, {X: min(v.right, v.high), Y: min(v.right, v.high)}})
		if err != nil {
			return nil, err
		}
		line.Color, line.Width = color.Gray{0x90}, 1
		p.Add(line)
		if v.legend {
			legend.Add("all placed", line)
		}
	}
	highest := v.high
	for _, r := range results {
		top, err := v.add(p, r, legend)
		if err != nil {
			return nil, err
		}
		highest = max(highest, top)
	}
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = v.left, v.right, v.low, v.high
	if v.high == 0 {
		p.Y.Max = max(1.05*highest, 1)
	}
	p.X.Tick.Marker = picture.Ticks(multiples(p.X.Min, p.X.Max, stepFor(p.X.Max-p.X.Min))...)
	p.Y.Tick.Marker = picture.Ticks(multiples(p.Y.Min, p.Y.Max, stepFor(p.Y.Max-p.Y.Min))...)
	return p, nil
}

// add draws the band, the line and the glyphs of one policy and returns the
// highest point.
func (v *panel) add(p *plot.Plot, r *result, legend *plot.Legend) (highest float64, err error) {
	var points, glyphs, above, below plotter.XYs
	curves := r.curves()
	for x := math.Ceil(v.left); x <= v.right; x++ {
		s := spreadAt(curves, int64(x), v.metric)
		if s.n == 0 {
			continue
		}
		point := plotter.XY{X: x, Y: s.mean}
		points = append(points, point)
		above = append(above, plotter.XY{X: x, Y: s.mean + s.sd})
		below = append(below, plotter.XY{X: x, Y: s.mean - s.sd})
		if int(x)%v.glyphEvery == 0 {
			glyphs = append(glyphs, point)
		}
		highest = max(highest, s.mean+s.sd)
	}
	if len(points) == 0 {
		return highest, nil
	}
	style := looks[slices.Index(policies, r.policy)%len(looks)]
	slices.Reverse(below)
	band, err := plotter.NewPolygon(append(above, below...))
	if err != nil {
		return 0, err
	}
	band.Color, band.LineStyle.Width = faint(style.color), 0
	line, err := plotter.NewLine(points)
	if err != nil {
		return 0, err
	}
	line.Color, line.Width, line.Dashes = style.color, 1.5, style.dash
	p.Add(band, line)
	dots, err := plotter.NewScatter(glyphs)
	if err != nil {
		return 0, err
	}
	dots.GlyphStyle = draw.GlyphStyle{Color: style.color, Radius: 2.8, Shape: style.glyph}
	p.Add(dots)
	if v.legend {
		legend.Add(r.policy.name, line, dots)
	}
	return highest, nil
}

// multiples returns the multiples of step.
func multiples(low, high, step float64) (all []float64) {
	for x := math.Ceil(low/step) * step; x <= high; x += step {
		all = append(all, x)
	}
	return all
}

// stepFor returns a round step that gives some ten ticks up to high.
func stepFor(high float64) float64 {
	step := math.Pow(10, math.Floor(math.Log10(high/4)))
	for _, factor := range []float64{5, 2} {
		if high/(factor*step) >= 4 {
			return factor * step
		}
	}
	return step
}

// faint returns a color for a band.
func faint(c color.NRGBA) color.NRGBA {
	c.A = 0x38
	return c
}
