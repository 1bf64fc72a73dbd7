// Spells each text of a JSON list on stdin as Go does, and writes a JSON object of spellings for each, one a line.
package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"html"
	"html/template"
	"net/url"
	"os"
	"strconv"
)

func main() {
	var texts []string
	json.NewDecoder(os.Stdin).Decode(&texts)
	for _, text := range texts {
		inJson, _ := json.Marshal(map[string]string{"pw": text})
		var inXml bytes.Buffer
		xml.EscapeText(&inXml, []byte(text))
		line, _ := json.Marshal(map[string]string{
			"go QueryEscape":    url.QueryEscape(text),
			"go PathEscape":     "/files/" + url.PathEscape(text) + "/x",
			"go Values":         url.Values{"pw": {text}, "user": {"ana"}}.Encode(),
			"go json":           string(inJson),
			"go base64 of json": base64.RawURLEncoding.EncodeToString(inJson),
			"go EscapeString":   html.EscapeString(text),
			"go JSEscapeString": "'" + template.JSEscapeString(text) + "'",
			"go xml":            "<pw>" + inXml.String() + "</pw>",
			"go Quote":          strconv.Quote(text),
			"go QuoteToASCII":   strconv.QuoteToASCII(text),
		})
		fmt.Println(string(line))
	}
}
