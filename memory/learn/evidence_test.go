package learn

import (
	"strings"
	"testing"
)

// TestEvidence shows what is taken of the outputs that agents meet every day.
func TestEvidence(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"go build": {"# example.com/app\n./main.go:12:9: undefined: loadConfig\n./main.go:20:2: declared and not used: x\n",
			"./main.go:12:9: undefined: loadConfig"},
		"go test": {"=== RUN   TestSum\n    sum_test.go:14: got 3, want 4\n--- FAIL: TestSum (0.00s)\nFAIL\nFAIL\texample.com/app\t0.004s\nFAIL\n",
			"sum_test.go:14: got 3, want 4"},
		"go panic": {"panic: runtime error: index out of range [3] with length 3\n\ngoroutine 1 [running]:\nmain.pick(...)\n\t/src/app/pick.go:9\nmain.main()\n\t/src/app/main.go:5 +0x1d\nexit status 2\n",
			"panic: runtime error: index out of range [3] with length 3 (/src/app/pick.go:9)"},
		"python": {"Traceback (most recent call last):\n  File \"/app/load.py\", line 31, in <module>\n    main()\n  File \"/usr/lib/python3.11/json/decoder.py\", line 355, in raw_decode\n    raise\njson.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)\n",
			"json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0) (/app/load.py:31)"},
		"node": {"/app/server.js:8\n    listen(port)\n    ^\n\nTypeError: Cannot read properties of undefined (reading 'port')\n    at start (/app/server.js:8:5)\n    at node:internal/main/run_main_module:23:47\n\nNode.js v20.1.0\n",
			"TypeError: Cannot read properties of undefined (reading 'port') (/app/server.js:8)"},
		"rust": {"   Compiling app v0.1.0\nerror[E0308]: mismatched types\n --> src/main.rs:4:18\n  |\n4 |     let x: i32 = \"a\";\n  |                  ^^^ expected `i32`, found `&str`\n\nerror: aborting due to previous error\nerror: could not compile `app` due to previous error\n",
			"error[E0308]: mismatched types (src/main.rs:4)"},
		"npm": {"npm ERR! code ELIFECYCLE\nnpm ERR! errno 1\nnpm ERR! Missing script: \"buidl\"\nnpm ERR! A complete log of this run can be found in: /root/.npm/_logs/x.log\n",
			"npm ERR! Missing script: \"buidl\""},
		"a logger": {"2026-11-21T13:42:54.120Z INFO started, 0 errors\n2026-11-21T13:42:55Z ERROR connection refused: db:5432\n2026-11-21T13:42:56Z INFO bye\n",
			"ERROR connection refused: db:5432"},
		"colours": {"\x1b[31merror:\x1b[0m the lock file is out of date\r\n", "error: the lock file is out of date"},
		"make":    {"cc -o app main.c\nmain.c:3:10: fatal error: missing.h: No such file or directory\nmake: *** [Makefile:2: app] Error 1\n", "main.c:3:10: fatal error: missing.h: No such file or directory"},
		"shell":   {"sh: 1: terraform: not found\n", "sh: 1: terraform: not found"},
		"says what to do": {"internal/api/api.pb.go:12: undefined: pb.RetryPolicy\nerror: generated code is stale: run make generate before go build\n",
			"error: generated code is stale: run make generate before go build (internal/api/api.pb.go:12)"},
		"a test that does": {"--- FAIL: TestExpiry (0.00s)\n    expiry_test.go:41: got 2026-11-21 01:00, want 2026-11-21 00:00\nerror: tests of expiry depend on the time zone: set TZ=UTC\n",
			"error: tests of expiry depend on the time zone: set TZ=UTC (expiry_test.go:41)"},
		"git": {" ! [rejected]        main -> main (fetch first)\nerror: failed to push some refs to 'origin'\nhint: Updates were rejected because the remote contains work that you do not have locally.\nhint: Integrate the remote changes before pushing again.\n",
			"error: failed to push some refs to 'origin'. It advises: Updates were rejected because the remote contains work that you do not have locally."},
		"rust advises": {"error[E0433]: failed to resolve: use of undeclared type `HashMap`\n --> src/main.rs:4:18\n  |\nhelp: consider importing this struct\n",
			"error[E0433]: failed to resolve: use of undeclared type `HashMap` (src/main.rs:4). It advises: consider importing this struct"},
		"a program that runs": {"=== RUN TestA\nnow, run the rest\nok\nFAIL: a.txt is missing\n", "FAIL: a.txt is missing"},
		"no error":            {"one\ntwo\nthree\n", "three"},
		"nothing":             {" \n\n", ""},
		"a healthy":           {"errors: 0\nno failures\nuploading\n", "uploading"},
		"not a text":          {"\xff\xfe broken: failed\n", "\uFFFD broken: failed"},
	} {
		if got := evidence(c.text).String(); got != c.want {
			t.Errorf("%s:\n got %q\nwant %q", name, got, c.want)
		}
	}
}

// BenchmarkFromTask takes outputs as large as are looked at: many short lines, and one long one.
func BenchmarkFromTask(b *testing.B) {
	for name, line := range map[string]string{"lines": "main_test.go:12: failed, got 3, want 4 (0.01s)\n", "one line": "an error at main_test.go:12, which failed "} {
		b.Run(name, func(b *testing.B) {
			t := task(&Problem{Reason: "exit", Stdout: strings.Repeat("INFO all is well\n", maxLook/17), Stderr: strings.Repeat(line, maxLook/len(line))})
			for b.Loop() {
				FromTask(t)
			}
		})
	}
}
