package bucket

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// The examples of "Authenticating Requests: Using the Authorization Header (AWS Signature Version 4)" in Amazon's reference of S3.
func TestPublishedSignatures(t *testing.T) {
	k := key{id: "AKIAIOSFODNN7EXAMPLE", secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", region: "us-east-1"}
	now := time.Date(2013, 5, 24, 0, 0, 0, 0, time.UTC)
	for _, x := range []struct {
		name, method, url, body string
		headers                 map[string]string
		want                    string
	}{
		{"GET Object", "GET", "https://examplebucket.s3.amazonaws.com/test.txt", "", map[string]string{"Range": "bytes=0-9"},
			"f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"},
		{"PUT Object", "PUT", "https://examplebucket.s3.amazonaws.com/" + escapePath("test$file.text"), "Welcome to Amazon S3.",
			map[string]string{"Date": "Fri, 24 May 2013 00:00:00 GMT", "X-Amz-Storage-Class": "REDUCED_REDUNDANCY"},
			"98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"},
		{"GET Bucket Lifecycle", "GET", "https://examplebucket.s3.amazonaws.com/?lifecycle=", "", nil,
			"fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"},
		{"List Objects", "GET", "https://examplebucket.s3.amazonaws.com/?max-keys=2&prefix=J", "", nil,
			"34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"},
	} {
		r, err := http.NewRequest(x.method, x.url, nil)
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range x.headers {
			r.Header.Set(name, value)
		}
		sign(r, hash([]byte(x.body)), k, now)
		if got := r.Header.Get("Authorization"); !strings.HasSuffix(got, "Signature="+x.want) {
			t.Errorf("%s: the request is signed %s, not with %s", x.name, got, x.want)
		}
	}
}
