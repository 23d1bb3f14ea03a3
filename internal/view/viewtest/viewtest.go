// Package viewtest reads the data of pages, for tests.
package viewtest

import (
	"compress/flate"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
)

var place = regexp.MustCompile(`(?s)<script type="text/plain" id="data">(.*?)</script>`)

// Data returns what the data of a page, or those that a live page is sent, unpack to, as any JSON. Columns
// of numbers are in their places.
func Data(page string) (map[string]any, error) {
	if m := place.FindStringSubmatch(page); m != nil {
		page = m[1]
	}
	text, err := io.ReadAll(flate.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(page))))
	if err != nil {
		return nil, err
	}
	if len(text) < 4 || uint64(len(text)-4) < uint64(binary.LittleEndian.Uint32(text)) {
		return nil, errors.New("the columns are longer than the data")
	}
	from := 4 + binary.LittleEndian.Uint32(text)
	var x map[string]any
	if err := json.Unmarshal(text[from:], &x); err != nil {
		return nil, err
	}
	columns := text[4:from]
	list, _ := x["results"].([]any)
	for _, r := range list {
		columns = put(r.(map[string]any), columns)
	}
	if len(columns) > 0 {
		return nil, fmt.Errorf("%d bytes of columns are left over", len(columns))
	}
	return x, nil
}

// put puts a result's columns into its run, and returns the bytes after them.
func put(result map[string]any, bytes []byte) []byte {
	list, _ := result["columns"].([]any)
	for _, c := range list {
		c := c.(map[string]any)
		var column []any
		for range int(c["n"].(float64)) {
			if c["words"] == true {
				column, bytes = append(column, float64(binary.LittleEndian.Uint32(bytes))), bytes[4:]
				continue
			}
			n, size := binary.Varint(bytes)
			column, bytes = append(column, float64(n)), bytes[size:]
		}
		at := result["run"]
		path := strings.Split(c["path"].(string), "/")
		for _, name := range path[:len(path)-1] {
			at = child(at, name)
		}
		last := path[len(path)-1]
		switch x := at.(type) {
		case map[string]any:
			x[last] = column
		case []any:
			i, _ := strconv.Atoi(last)
			x[i] = column
		}
	}
	return bytes
}

// child returns a member of JSON by its name or index.
func child(of any, name string) any {
	if list, ok := of.([]any); ok {
		i, _ := strconv.Atoi(name)
		return list[i]
	}
	return of.(map[string]any)[name]
}
