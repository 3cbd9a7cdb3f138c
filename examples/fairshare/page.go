package main

import (
	"bytes"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"math"

	"github.com/resvec/resvec/examples/internal/picture"
	"github.com/resvec/resvec/vector"
)

// The page has no script and loads nothing. What names and texts say gets into it through
// html/template alone.
var (
	//go:embed page.html
	pageText     string
	pageTemplate = template.Must(template.New("page").Parse(pageText))
)

// pagePart is a resource.
type pagePart struct {
	Name, Total string
	Rows        []pageRow
}

// pageRow is a queue with four bars, in percent of the total.
type pageRow struct {
	Name    string
	Indent  int
	Because string
	Bars    []pageBar
}

type pageBar struct {
	Class, Label, Amount string
	Percent              float64
}

// page returns the page. Of a story, the bars are of the hour in which most is wanted.
func (c *cluster) page() ([]byte, error) {
	x := struct {
		When    string
		Parts   []pagePart
		Picture template.URL
	}{When: "now"}
	of := func(row int) (has, should, wants vector.ResourceVector) {
		return c.tree.Allocated(nil, row), c.tree.Share(nil, row), c.tree.Wanted(nil, row)
	}
	if len(c.hours) > 1 {
		busiest := c.hours[0]
		for _, h := range c.hours {
			if sum(h.wants) > sum(busiest.wants) {
				busiest = h
			}
		}
		x.When = fmt.Sprintf("at %02d:00", busiest.at%24)
		of = func(row int) (has, should, wants vector.ResourceVector) {
			return busiest.has[row], busiest.should[row], busiest.wants[row]
		}
		canvas, err := c.picture()
		if err != nil {
			return nil, err
		}
		svg, err := picture.SVG(canvas)
		if err != nil {
			return nil, err
		}
		x.Picture = template.URL("data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString(svg))
	}
	for _, k := range c.columns {
		part := pagePart{Name: c.m.Name(k), Total: c.m.Format(k, c.total[k])}
		for _, row := range c.order {
			has, should, wants := of(row)
			r := pageRow{Name: c.tree.Name(row), Indent: c.depth[row] - 1}
			if len(c.hours) == 0 {
				r.Because = c.because(row, k)
			}
			for _, b := range []struct {
				class, label string
				amount       float64
			}{
				{"deserved", "deserved", c.deserved(row, k)}, {"should", "should have", should[k]},
				{"has", "has", has[k]}, {"wants", "wants", wants[k]},
			} {
				bar := pageBar{b.class, b.label, "unlimited", 100}
				if !math.IsInf(b.amount, 1) {
					bar.Amount, bar.Percent = c.m.Format(k, b.amount), min(100, 100*b.amount/c.total[k])
				}
				r.Bars = append(r.Bars, bar)
			}
			part.Rows = append(part.Rows, r)
		}
		x.Parts = append(x.Parts, part)
	}
	var b bytes.Buffer
	err := pageTemplate.Execute(&b, &x)
	return b.Bytes(), err
}

// deserved returns what the owner of a queue says.
func (c *cluster) deserved(row, column int) float64 {
	for _, q := range c.queues {
		if q.Name == c.tree.Name(row) {
			return q.Deserved.Get(column)
		}
	}
	return 0
}

// sum adds up what all queues want, in all columns: a measure of how busy an hour is.
func sum(all []vector.ResourceVector) (x float64) {
	for _, v := range all {
		for _, amount := range v {
			x += amount
		}
	}
	return x
}
