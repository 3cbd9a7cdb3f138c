package main

import (
	"bytes"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"math"
	"strings"

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

// pagePart is a resource. The bars are in percent of the greatest amount, or of the total if
// that is more; Mark is the total.
type pagePart struct {
	Name, Total string
	Mark        float64
	Rows        []pageRow
}

// pageRow is a queue with four bars.
type pageRow struct {
	Name    string
	Level   int // of its heading
	Indent  int
	Because string
	Bars    []pageBar
}

type pageBar struct {
	Class, Label, Amount string
	Percent              float64
	amount               float64
}

// saidPart is some lines that the program wrote.
type saidPart struct {
	Title string
	Lines []string
}

// page returns the page. Of a story, the bars are of the hour in which most is wanted. said and
// changes are what the program wrote.
func (c *cluster) page(said, changes string) ([]byte, error) {
	x := struct {
		When    string
		Parts   []pagePart
		Picture template.URL
		Said    []saidPart
	}{When: "now", Said: c.said(said, changes)}
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
		most := c.total[k]
		for _, row := range c.order {
			has, should, wants := of(row)
			r := pageRow{Name: c.tree.Name(row), Level: min(c.depth[row]+2, 6), Indent: c.depth[row] - 1}
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
				bar := pageBar{b.class, b.label, "unlimited", 100, b.amount}
				if !math.IsInf(b.amount, 1) {
					bar.Amount = c.m.Format(k, b.amount)
					most = max(most, b.amount)
				}
				r.Bars = append(r.Bars, bar)
			}
			part.Rows = append(part.Rows, r)
		}
		part.Mark = 100 * c.total[k] / most
		for _, r := range part.Rows {
			for i := range r.Bars {
				if bar := &r.Bars[i]; !math.IsInf(bar.amount, 1) {
					bar.Percent = 100 * bar.amount / most
				}
			}
		}
		x.Parts = append(x.Parts, part)
	}
	var b bytes.Buffer
	err := pageTemplate.Execute(&b, &x)
	return b.Bytes(), err
}

// said returns what the program wrote besides the tables that the bars show: of a moment who is
// next, and why jobs wait; of a story what happens; and what -set changes, if anything.
func (c *cluster) said(text, changes string) (parts []saidPart) {
	var tables bytes.Buffer
	title := "Next, and what jobs that wait could take"
	if c.isStory {
		title = "What happens"
		c.printHours(&tables)
	} else {
		c.printShares(&tables)
	}
	text = strings.Replace(text, tables.String(), "", 1)
	parts = append(parts, saidPart{title, strings.Split(strings.TrimSpace(text), "\n")})
	if changes != "" {
		lines := strings.Split(strings.TrimSpace(changes), "\n")
		parts = append(parts, saidPart{"What if, " + lines[0], lines[1:]})
	}
	return parts
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
