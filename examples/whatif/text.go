package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// readFile reads a file, or the standard input for -.
func (o *objects) readFile(name string, stdin io.Reader, want kinds) error {
	if name == "-" {
		return o.read("stdin", stdin, want)
	}
	file, err := os.Open(name)
	if err != nil {
		return err // it names the file
	}
	defer file.Close()
	return o.read(name, file, want)
}

// read adds the objects of a text: JSON if it begins with a brace, YAML
// otherwise. It holds any number of documents, each of which is an object or a
// list of objects, as kubectl prints them. name stands for the text in errors.
//
// Items of lists are decoded one by one: a tree of a whole list takes many times its bytes.
func (o *objects) read(name string, r io.Reader, want kinds) error {
	text, err := readAll(r)
	if err == nil {
		err = checkEncoding(text)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")) // a mark of UTF-8
	documents := splitYAML
	if bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) {
		documents = splitJSON
	}
	all, err := documents(text, func(at int) { o.line.Printf("reading %s: %d of %d MB", name, at>>20, len(text)>>20) })
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if len(all) == 0 {
		return fmt.Errorf("%s: it holds no document", name)
	}
	for i := range all {
		at := name
		if len(all) > 1 {
			at = fmt.Sprintf("%s: document %d", name, i+1)
		}
		if err := o.document(at+": ", &all[i], want); err != nil {
			return err
		}
	}
	return nil
}

// readAll is io.ReadAll that makes room for a file at once.
func readAll(r io.Reader) ([]byte, error) {
	var b bytes.Buffer
	if file, ok := r.(*os.File); ok {
		if info, err := file.Stat(); err == nil && info.Mode().IsRegular() {
			b.Grow(int(info.Size()) + bytes.MinRead)
		}
	}
	_, err := b.ReadFrom(r)
	return b.Bytes(), err
}

// checkEncoding says where a text is not UTF-8.
func checkEncoding(text []byte) error {
	if bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff")) {
		return errors.New("not UTF-8 in line 1: it is UTF-16, as > of PowerShell writes it; want JSON or YAML in UTF-8")
	}
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRune(text[at:])
		if r == utf8.RuneError && size == 1 {
			return fmt.Errorf("not UTF-8 in line %d: got byte 0x%02x; want JSON or YAML in UTF-8", lineAt(text, at), text[at])
		}
		at += size
	}
	return nil
}

// lineAt returns the number of the line of a byte.
func lineAt(text []byte, at int) int {
	return 1 + bytes.Count(text[:min(at, len(text))], []byte("\n"))
}

// A manifest is an object or a list of objects.
type manifest struct {
	whole json.RawMessage   // nil where the items are all that counts
	kind  string            // of a list of items
	items []json.RawMessage // parts of the text
}

// listKinds are the kinds of lists.
var listKinds = []string{"List", "NodeList", "PodList", "PodGroupList",
	"NamespaceList", "ServiceList", "ReplicationControllerList", "ReplicaSetList", "StatefulSetList",
	"DeviceClassList", "ResourceClaimList", "ResourceClaimTemplateList", "ResourceSliceList"}

// splitJSON returns the documents of a text.
func splitJSON(text []byte, progress func(at int)) (documents []manifest, err error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	for {
		at := int(decoder.InputOffset())
		at += len(text[at:]) - len(bytes.TrimLeft(text[at:], " \t\r\n"))
		if at == len(text) {
			return documents, nil
		}
		d, err := scanJSON(decoder, text, at, progress)
		switch {
		case errors.Is(err, errTwice):
			return nil, fmt.Errorf("line %d: %w", lineAt(text, int(decoder.InputOffset())), err)
		case err != nil:
			return nil, syntaxError(text, at, err)
		}
		documents = append(documents, d)
	}
}

// errTwice says that a document has two lists of items.
var errTwice = errors.New("items: want one list, got a second")

// scanJSON returns the document that begins at a byte of the text. Of a list it finds the items
// and its kind, which kubectl writes behind them.
func scanJSON(decoder *json.Decoder, text []byte, at int, progress func(at int)) (d manifest, err error) {
	var value json.RawMessage
	if text[at] != '{' {
		err = decoder.Decode(&d.whole)
		return d, err
	}
	if _, err = decoder.Token(); err != nil {
		return d, err
	}
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			return d, err
		}
		rest := bytes.TrimLeft(text[decoder.InputOffset():], " \t\r\n:")
		if key != "items" || !bytes.HasPrefix(rest, []byte("[")) {
			if err := decoder.Decode(&value); err != nil {
				return d, err
			}
			if key == "kind" && json.Unmarshal(value, &d.kind) != nil {
				d.kind = "" // said where the document is read
			}
			continue
		}
		if _, err := decoder.Token(); err != nil {
			return d, err
		}
		if d.items != nil {
			return d, errTwice
		}
		d.items = []json.RawMessage{}
		for decoder.More() {
			if err := decoder.Decode(&value); err != nil {
				return d, err
			}
			end := int(decoder.InputOffset())
			d.items = append(d.items, text[end-len(value):end])
			progress(end)
		}
		if _, err := decoder.Token(); err != nil {
			return d, err
		}
	}
	if _, err = decoder.Token(); err != nil {
		return d, err
	}
	if d.items == nil || !slices.Contains(listKinds, d.kind) {
		d.whole = text[at:decoder.InputOffset()]
	}
	return d, nil
}

// syntaxError returns the error about the document that begins at a byte, with its line.
func syntaxError(text []byte, at int, err error) error {
	var whole json.RawMessage
	if again := json.NewDecoder(bytes.NewReader(text[at:])).Decode(&whole); again != nil {
		err = again
	}
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return fmt.Errorf("line %d: %w; what begins with { is read as JSON", lineAt(text, at+int(syntax.Offset)), err)
	}
	return fmt.Errorf("line %d: %w", lineAt(text, len(text)), err) // an end in the middle
}

// splitYAML returns the documents of a text as JSON. Those that hold nothing are left out.
func splitYAML(text []byte, progress func(at int)) (documents []manifest, err error) {
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
	at := 0
	for i := 1; ; i++ {
		part, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return documents, nil
		}
		d := manifest{}
		if err == nil {
			d, err = scanYAML(part, func(done int) { progress(at + done) })
		}
		if err != nil {
			return nil, fmt.Errorf("document %d: %w", i, err)
		}
		if at += len(part); d.items != nil || string(bytes.TrimSpace(d.whole)) != "null" {
			documents = append(documents, d)
		}
	}
}

// mostWhole is the size of the largest list that is decoded as a whole where an item alone can't
// be: it has an alias of another item, say. Such a tree takes 60 times its bytes.
const mostWhole = 16 << 20

// scanYAML returns a document as JSON.
func scanYAML(text []byte, progress func(at int)) (d manifest, err error) {
	head, items := splitItems(text)
	if items != nil {
		var of struct {
			Kind string `json:"kind"`
		}
		around, fault := yaml.YAMLToJSONStrict(head) // repeated keys are errors
		if fault == nil {
			fault = kjson.UnmarshalCaseSensitivePreserveInts(around, &of)
		}
		if fault != nil || !slices.Contains(listKinds, of.Kind) {
			items = nil
		}
		d.kind = of.Kind
	}
	for i, item := range items {
		value, err := yaml.YAMLToJSONStrict(text[item.start:item.end])
		switch {
		case err == nil:
			d.items = append(d.items, bytes.TrimSuffix(bytes.TrimPrefix(bytes.TrimSpace(value), []byte("[")), []byte("]")))
			progress(item.end)
			continue
		case len(text) > mostWhole:
			return d, fmt.Errorf("items[%d]: %w", i, inLine(err, lineAt(text, item.start)))
		}
		d.items = nil
		break
	}
	if d.items == nil {
		d.whole, err = yaml.YAMLToJSONStrict(text)
	}
	return d, err
}

// A span is a part of a text.
type span struct{ start, end int }

// splitItems returns where the items of a list are that is written in block style, as kubectl
// does, and what stands around them; nil for another text.
func splitItems(text []byte) (head []byte, items []span) {
	indent, before, at := -1, -1, 0 // of the items; behind the line items:
	for at < len(text) {
		end := at + bytes.IndexByte(text[at:], '\n') + 1
		if end == at {
			end = len(text)
		}
		line := bytes.TrimRight(text[at:end], " \t\r\n")
		bare := bytes.TrimLeft(line, " ")
		depth := len(line) - len(bare)
		isItem := string(bare) == "-" || bytes.HasPrefix(bare, []byte("- "))
		switch {
		case before < 0:
			if string(line) == "items:" {
				before = end
			}
		case len(bare) == 0 || bare[0] == '#':
		case indent < 0 && !isItem:
			return nil, nil
		case isItem && (indent < 0 || depth == indent):
			if indent = depth; len(items) > 0 {
				items[len(items)-1].end = at
			}
			items = append(items, span{at, len(text)})
		case depth <= indent:
			items[len(items)-1].end = at
			return slices.Concat(text[:before-1], []byte(" []\n"), text[at:]), items
		}
		at = end
	}
	if items == nil {
		return nil, nil
	}
	return slices.Concat(text[:before-1], []byte(" []\n")), items
}

// lineNumber matches the line in an error of the YAML parser.
var lineNumber = regexp.MustCompile(`line (\d+)`)

// inLine returns an error about a part of a text that begins in a line, with a line of the text.
func inLine(err error, first int) error {
	if !lineNumber.MatchString(err.Error()) {
		return fmt.Errorf("line %d: %w", first, err)
	}
	return errors.New(lineNumber.ReplaceAllStringFunc(err.Error(), func(match string) string {
		n, _ := strconv.Atoi(strings.TrimPrefix(match, "line "))
		return fmt.Sprint("line ", n+first-1)
	}))
}

// document adds an object or the items of a list. at is what its errors begin
// with.
func (o *objects) document(at string, d *manifest, want kinds) error {
	if d.whole != nil {
		var head struct {
			Kind  string            `json:"kind"`
			Items []json.RawMessage `json:"items"`
		}
		if err := kjson.UnmarshalCaseSensitivePreserveInts(d.whole, &head); err != nil {
			return fmt.Errorf("%s%w", at, headError(err))
		}
		if !slices.Contains(listKinds, head.Kind) {
			return o.object(strings.TrimSuffix(at, ": "), d.whole, "", want)
		}
		if head.Items == nil {
			return fmt.Errorf("%sitems: a %s without items", at, head.Kind)
		}
		d = &manifest{kind: head.Kind, items: head.Items}
	}
	for i, item := range d.items {
		o.line.Printf("%sobject %d of %d", at, i+1, len(d.items))
		if err := o.object(fmt.Sprintf("%sitems[%d]", at, i), item, strings.TrimSuffix(d.kind, "List"), want); err != nil {
			return err
		}
		d.items[i] = nil
	}
	return nil
}
