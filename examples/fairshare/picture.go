package main

import (
	"errors"
	"image/color"
	"os"
	"path/filepath"

	"github.com/resvec/resvec/examples/internal/picture"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Colors of the palette by Okabe and Ito, which people with any color vision can
// distinguish; what queues want is in a light gray.
var (
	hasColor    = color.RGBA{0x56, 0xB4, 0xE9, 0xFF}
	shouldColor = color.RGBA{0xD5, 0x5E, 0x00, 0xFF}
	wantsColor  = color.RGBA{0xE6, 0xE6, 0xE6, 0xFF}
)

// writePicture draws the story of the first resource: for each leaf what it wants and has, as
// areas, and what it should have, as a line.
func (c *cluster) writePicture(path string) error {
	canvas, err := c.picture()
	if err != nil {
		return err
	}
	return picture.WriteSVG(filepath.Clean(path), canvas)
}

func (c *cluster) picture() (*vgsvg.Canvas, error) {
	if len(c.columns) == 0 || len(c.hours) < 2 {
		return nil, errors.New("nothing to draw: want a story of two hours")
	}
	var panels []*plot.Plot
	legend := picture.NewLegend()
	named := legend
	for _, row := range c.order {
		if !c.isLeaf(c.tree.Name(row)) {
			continue
		}
		p, err := c.panel(row, c.columns[0], named)
		if err != nil {
			return nil, err
		}
		panels, named = append(panels, p), nil
	}
	panels[0].Y.Label.Text = c.m.Name(c.columns[0])
	canvas := vgsvg.New(10.5*vg.Inch, 2.6*vg.Inch)
	picture.Draw(canvas, panels, legend)
	return canvas, nil
}

// panel draws one queue, and names the areas and the line in the legend, unless it is nil.
func (c *cluster) panel(row, column int, legend *plot.Legend) (*plot.Plot, error) {
	p := picture.NewPlot(c.tree.Name(row), "hour", "")
	first, last := float64(c.hours[0].at), float64(c.hours[len(c.hours)-1].at+1)
	var has, wants, should plotter.XYs
	for i, h := range c.hours {
		x, end := float64(h.at), last
		if i+1 < len(c.hours) {
			end = float64(c.hours[i+1].at)
		}
		step := func(points plotter.XYs, y float64) plotter.XYs {
			return append(points, plotter.XY{X: x, Y: y}, plotter.XY{X: end, Y: y})
		}
		has, wants, should = step(has, h.has[row][column]), step(wants, h.wants[row][column]), step(should, h.should[row][column])
	}
	picture.AddGrid(p)
	for _, a := range []struct {
		name   string
		points plotter.XYs
		color  color.Color
	}{{"wants", wants, wantsColor}, {"has", has, hasColor}} {
		area, err := plotter.NewPolygon(append(append(plotter.XYs{{X: first}}, a.points...), plotter.XY{X: last}))
		if err != nil {
			return nil, err
		}
		area.Color, area.LineStyle.Width = a.color, 0
		p.Add(area)
		if legend != nil {
			legend.Add(a.name, area)
		}
	}
	line, err := plotter.NewLine(should)
	if err != nil {
		return nil, err
	}
	line.Color, line.Width = shouldColor, 2
	p.Add(line)
	if legend != nil {
		legend.Add("should have", line)
	}
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = first, last, 0, c.total[column]
	var hours []float64
	for at := first + float64((4-int(first)%4)%4); at <= last; at += 4 {
		hours = append(hours, at)
	}
	p.X.Tick.Marker = picture.Ticks(hours...)
	p.Y.Tick.Marker = picture.Ticks(0, c.total[column]/2, c.total[column])
	return p, nil
}

// writePage writes a page of its own: the tree as bars, the picture of a story, and what the
// program said besides.
func (c *cluster) writePage(path, said, changes string) error {
	text, err := c.page(said, changes)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Clean(path), text, 0o644)
}
