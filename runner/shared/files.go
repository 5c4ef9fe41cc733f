package shared

import (
	"strings"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

// FileWatch is the source of the events of changes of files.
const FileWatch = "file"

// watchSpace has which files are watched under the name of an event.
const watchSpace = "watches"

// filesSpace has how the files stood that are watched under the name of an event, by their paths.
func filesSpace(name string) string { return "files " + name }

// applyFiles reads how watched files stood, or publishes their changes. A change and the new state of its file are one transaction, so each
// is published once, whoever looks and is killed when.
func applyFiles(rows Rows, r *event.FilesRequest, now event.Time) (a Answer, err error) {
	if !strings.HasPrefix(r.Name, ir.FileEvents) {
		return a, refuse("%.80q is not the event of a change of a file: the names of those begin with %s", r.Name, ir.FileEvents)
	}
	var spec string
	if err := loadRow(rows, watchSpace, r.Name, &spec); err != nil {
		return a, err
	}
	if r.Spec == "" {
		files := map[string]value.Value{}
		err := rows.Scan(filesSpace(r.Name), "", func(path string, body []byte) bool {
			files[path] = string(body)
			return true
		})
		return Answer{Output: map[string]value.Value{"spec": spec, "files": files}}, err
	}
	list, err := subscribers(rows, r.Name)
	if err != nil || len(list) == 0 {
		return a, err
	}
	begins := spec != r.Spec
	if begins {
		if err := rows.Clear(filesSpace(r.Name)); err != nil {
			return a, err
		}
		if err := saveRow(rows, watchSpace, r.Name, r.Spec); err != nil {
			return a, err
		}
	}
	for i := range r.Changes {
		f := &r.Changes[i]
		body, _, err := rows.Get(filesSpace(r.Name), f.Path)
		switch {
		case err != nil:
			return a, err
		case !begins && string(body) != f.Before, f.Before == f.Now:
			continue
		case f.Now == "":
			err = rows.Delete(filesSpace(r.Name), f.Path)
		default:
			err = rows.Put(filesSpace(r.Name), f.Path, []byte(f.Now))
		}
		if err == nil && !begins {
			err = publishChange(rows, r.Name, f, &a, now)
		}
		if err != nil {
			return a, err
		}
	}
	return a, nil
}

// publishChange publishes the change of a file.
func publishChange(rows Rows, name string, f *event.FileChange, a *Answer, now event.Time) error {
	data := map[string]value.Value{"path": f.Path, "change": "changed", "size": float64(f.Size), "modified": ""}
	switch "" {
	case f.Before:
		data["change"] = "created"
	case f.Now:
		data["change"] = "removed"
	}
	if f.Now != "" {
		data["modified"] = f.Modified.String()
	}
	p, err := Emit(rows, &Emission{Name: name, Source: FileWatch, Data: data}, now)
	for _, run := range p.Runs {
		a.Posts = append(a.Posts, Post{run, p.Event.External(name)})
	}
	return err
}

// forgetFiles removes what is known of the watched files of an event that nobody is subscribed to any more.
func forgetFiles(rows Rows, name string) error {
	list, err := subscribers(rows, name)
	if err != nil || len(list) > 0 || !strings.HasPrefix(name, ir.FileEvents) {
		return err
	}
	if err := rows.Clear(filesSpace(name)); err != nil {
		return err
	}
	return rows.Delete(watchSpace, name)
}
