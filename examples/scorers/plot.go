package main

import (
	"fmt"
	"image/color"

	"github.com/resvec/resvec/examples/internal/picture"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/palette"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// looks are the lines' colors, of the palette by Okabe and Ito, which people
// with any color vision can distinguish, and their dashes, for prints in gray.
var looks = []struct {
	color color.RGBA
	dash  []vg.Length
}{
	{color.RGBA{0x00, 0x72, 0xB2, 0xFF}, nil},
	{color.RGBA{0xD5, 0x5E, 0x00, 0xFF}, []vg.Length{6, 3}},
	{color.RGBA{0x00, 0x00, 0x00, 0xFF}, []vg.Length{2, 2}},
}

// shades go from white to blue, evenly in lightness.
type shades struct{}

func (shades) Colors() []color.Color {
	var all []color.Color
	for i := range 65 {
		t := float64(i) / 64
		between := func(from, to float64) uint8 { return uint8(from + t*(to-from)) }
		all = append(all, color.RGBA{between(255, 0), between(255, 114), between(255, 178), 255})
	}
	return all
}

var _ palette.Palette = shades{}

const (
	width  = 10 * vg.Inch
	height = 3 * vg.Inch
)

// writePicture draws plots in a row, and the legend next to them, and writes them to a file.
func writePicture(path string, plots []*plot.Plot, legend *plot.Legend) error {
	canvas := vgsvg.New(width, height)
	picture.Draw(canvas, plots, legend)
	return picture.WriteSVG(path, canvas)
}

func writeUtilization(path string, grids []*grid) error {
	var plots []*plot.Plot
	for _, g := range grids {
		plots = append(plots, gridPlot(g))
	}
	return writePicture(path, plots, nil)
}

func writeDevices(path string, scarce *grid, devices *lines) error {
	legend := picture.NewLegend()
	return writePicture(path, []*plot.Plot{gridPlot(scarce), linesPlot(devices, legend)}, legend)
}

// gridPlot draws each score as a square with its number.
func gridPlot(g *grid) *plot.Plot {
	p := picture.NewPlot(g.title, g.x, g.y)
	heat := plotter.NewHeatMap(gridXYZ{g}, shades{})
	heat.Min, heat.Max = g.least, g.most
	p.Add(heat)
	for r := range g.rows {
		for c := range g.columns {
			p.Add(g.number(r, c))
		}
	}
	p.X.Tick.Marker, p.Y.Tick.Marker = nominal(g.columns), nominal(g.rows)
	for _, axis := range []*plot.Axis{&p.X, &p.Y} { // the squares need no lines
		axis.Tick.Length, axis.LineStyle.Width, axis.Padding = 0, 0, 2
	}
	return p
}

// number is a score in the middle of its square, in ink that can be read there.
func (g *grid) number(row, column int) *plotter.Labels {
	score, ink := g.score(row, column), color.Color(color.Black)
	if score-g.least > 0.6*(g.most-g.least) {
		ink = color.White
	}
	labels, err := plotter.NewLabels(plotter.XYLabels{
		XYs: plotter.XYs{{X: float64(column), Y: float64(row)}}, Labels: []string{fmt.Sprintf("%g", score)}})
	if err != nil {
		panic(err) // one label at one place
	}
	labels.TextStyle[0] = text.Style{
		Color: ink, Font: picture.Sans(9), XAlign: draw.XCenter, YAlign: draw.YCenter, Handler: plot.DefaultTextHandler}
	return labels
}

// nominal names the places 0, 1, 2 and so on.
func nominal(names []string) plot.ConstantTicks {
	var ticks plot.ConstantTicks
	for i, name := range names {
		ticks = append(ticks, plot.Tick{Value: float64(i), Label: name})
	}
	return ticks
}

// gridXYZ is a grid for plotter.
type gridXYZ struct{ g *grid }

func (g gridXYZ) Dims() (c, r int)   { return len(g.g.columns), len(g.g.rows) }
func (g gridXYZ) Z(c, r int) float64 { return g.g.score(r, c) }
func (g gridXYZ) X(c int) float64    { return float64(c) }
func (g gridXYZ) Y(r int) float64    { return float64(r) }

// linesPlot draws lines, and names them in a legend.
func linesPlot(l *lines, legend *plot.Legend) *plot.Plot {
	p := picture.NewPlot(l.title, l.x, "score")
	picture.AddGrid(p)
	for k, name := range l.names {
		points := make(plotter.XYs, len(l.at))
		for i, x := range l.at {
			points[i] = plotter.XY{X: x, Y: l.scores[k][i]}
		}
		line, err := plotter.NewLine(points)
		if err != nil {
			panic(err) // the scores are finite
		}
		line.Color, line.Width, line.Dashes = looks[k].color, 1.6, looks[k].dash
		p.Add(line)
		legend.Add(name, line)
	}
	p.X.Min, p.X.Max = l.at[0], l.at[len(l.at)-1]
	p.Y.Min, p.Y.Max = 20, 60
	p.X.Tick.Marker = picture.Ticks(300, 400, 500, 600, 700, 800, 900, 1000)
	p.Y.Tick.Marker = picture.Ticks(20, 30, 40, 50, 60)
	return p
}
