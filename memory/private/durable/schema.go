package durable

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"fmt"
	"slices"
	"strings"
)

// Asker is a connection, or a pool of them.
type Asker interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// Foreign says that a database holds what flowrun never puts there. Nothing of it was carried out.
type Foreign struct {
	Objects []string // the first few, each with its kind
	More    int
}

func (f *Foreign) Error() string {
	text := "its database has content that flowrun never writes: " + strings.Join(f.Objects, ", ")
	if f.More > 0 {
		text += fmt.Sprintf(" and %d more", f.More)
	}
	return text
}

// Changed says that an object of ours is missing or was altered, as by damage.
type Changed struct{ Object string }

func (c *Changed) Error() string {
	return "in its database, " + c.Object + " is missing or was not created by flowrun"
}

const (
	// maxTold is how many objects an error names.
	maxTold = 3
	// maxName is what a name is cut to there.
	maxName = 64
	// maxObjects is how many objects are read: who has more has foreign ones.
	maxObjects = 1000
)

// object is a row of SQLite's list.
type object struct{ kind, name, table, sql string }

func (o object) title() string { return o.kind + " " + o.name[:min(len(o.name), maxName)] }

// CheckSchema compares a database with what migrations make of an empty one: a *Foreign, a *Changed, or nil. Where both could be said, what
// is foreign is told. sum spares the making, which takes 2 ms, where it is the [SchemaSum] of these migrations.
func CheckSchema(ctx context.Context, db Asker, migrations []string, sum string) error {
	have, err := list(ctx, db)
	if err != nil || sumOf(have, migrations) == sum {
		return err
	}
	want, err := made(ctx, migrations)
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for _, o := range want {
		known[o.title()] = true
	}
	surplus := len(have) > len(want)
	foreign := &Foreign{}
	for _, o := range have {
		if !(surplus && !known[o.title()] || o.kind == "trigger" || o.kind == "view" || isVirtual(o)) {
			continue
		}
		if len(foreign.Objects) == maxTold {
			foreign.More++
		} else {
			foreign.Objects = append(foreign.Objects, o.title())
		}
	}
	if len(foreign.Objects) > 0 {
		return foreign
	}
	for _, o := range want {
		if !slices.Contains(have, o) {
			return &Changed{o.title()}
		}
	}
	if surplus {
		return &Changed{"an object"} // one that stands there twice
	}
	return nil
}

func isVirtual(o object) bool {
	return o.kind == "table" && strings.HasPrefix(strings.ToUpper(strings.TrimSpace(o.sql)), "CREATE VIRTUAL")
}

func list(ctx context.Context, db Asker) (all []object, err error) {
	rows, err := db.QueryContext(ctx, "SELECT coalesce(type, ''), coalesce(name, ''), coalesce(tbl_name, ''), coalesce(sql, '') FROM sqlite_schema LIMIT ?", maxObjects)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var o object
		if err := rows.Scan(&o.kind, &o.name, &o.table, &o.sql); err != nil {
			return nil, err
		}
		all = append(all, o)
	}
	return all, rows.Err()
}

// SchemaSum stands for what migrations make. It is one of the migrations' texts, too, so that one that was noted for other migrations
// fits nothing.
func SchemaSum(ctx context.Context, migrations []string) (string, error) {
	want, err := made(ctx, migrations)
	return sumOf(want, migrations), err
}

func sumOf(all []object, migrations []string) string {
	lines := make([]string, len(all))
	for i, o := range all {
		lines[i] = fmt.Sprintf("%q", o)
	}
	slices.Sort(lines)
	return fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%q %q", migrations, lines)))
}

// made is what migrations make, in memory.
func made(ctx context.Context, migrations []string) (all []object, err error) {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return nil, err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	for _, m := range migrations {
		if _, err := db.ExecContext(ctx, m); err != nil {
			return nil, err
		}
	}
	return list(ctx, db)
}
