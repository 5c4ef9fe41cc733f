// The dashboard in a real browser. This is a module of its own, so that flowrun needs none of what a browser needs.
module github.com/flowrun/flowrun/testdata/browser

go 1.25.0

require (
	github.com/chromedp/cdproto v0.159.0
	github.com/chromedp/chromedp v0.22.1
)

require github.com/go-json-experiment/json v0.0.0-20260213210345-44df1a37e875 // indirect
