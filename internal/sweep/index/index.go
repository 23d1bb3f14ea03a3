// Package index makes tables of the results of a store, in an SQLite database beside them, and
// answers queries in SQL. The results stay what counts: the database is brought up to date when
// it is opened, and made anew when it is damaged.
//
// It does not know what a counter means.
package index

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/heddle-sim/heddle/internal/sweep/store"
)

// file is the database's name in the store.
const file = "index.sqlite"

// version is raised when the tables change; a database of another version is made anew.
const version = 1

// tables are those of the database. A launch of -1 means the run as a whole, so that it can be
// part of a key.
const tables = `
CREATE TABLE runs (digest TEXT PRIMARY KEY, input TEXT, gpu TEXT, exit_code INTEGER, seconds REAL, peak_bytes INTEGER, made TEXT) WITHOUT ROWID;
CREATE TABLE settings (digest TEXT, key TEXT, value NUMERIC, PRIMARY KEY (digest, key)) WITHOUT ROWID;
CREATE TABLE launches (digest TEXT, launch INTEGER, name TEXT, stream INTEGER, grid TEXT, block TEXT, cycles INTEGER, warp_instructions INTEGER, thread_instructions INTEGER);
CREATE TABLE counters (digest TEXT, launch INTEGER, name TEXT, value NUMERIC, PRIMARY KEY (digest, launch, name)) WITHOUT ROWID;
CREATE TABLE lines (digest TEXT, launch INTEGER, file TEXT, line INTEGER, pc INTEGER, function TEXT, instruction TEXT, issues INTEGER, warp_cycles INTEGER);
CREATE TABLE findings (digest TEXT, launch INTEGER, rule TEXT, share REAL, seen TEXT, try TEXT);
CREATE INDEX launches_digest ON launches (digest);
CREATE INDEX lines_digest ON lines (digest);
CREATE INDEX findings_digest ON findings (digest);
CREATE INDEX counters_name ON counters (name, launch);
`

// Index is an open database.
type Index struct {
	db        *sql.DB
	temporary string // a folder to be removed
}

// Open brings the database of a store up to date and opens it for queries. Say gets messages
// about results that cannot be read.
func Open(ctx context.Context, s *store.Store, say func(format string, args ...any)) (*Index, error) {
	x := &Index{}
	path := filepath.Join(s.Dir, file)
	if err := x.update(ctx, path, s, say); err != nil {
		x.Close()
		if ctx.Err() != nil {
			return nil, err
		}
		say("the index %s cannot be used (%v); one is made for this query alone", path, err)
		// Of a store that cannot be written, the database is in a folder of its own.
		dir, terr := os.MkdirTemp("", "heddle-index-")
		if terr != nil {
			return nil, errors.Join(err, terr)
		}
		x.temporary = dir
		if err := x.update(ctx, filepath.Join(dir, file), s, say); err != nil {
			x.Close()
			return nil, fmt.Errorf("the index of %s: %w", s.Dir, err)
		}
		path = filepath.Join(dir, file)
	}
	// Queries have a connection that cannot write.
	err := x.db.Close()
	if err == nil {
		x.db, err = connect(path, url.Values{"mode": {"ro"}, "_pragma": {"busy_timeout(30000)"}})
	}
	if err != nil {
		x.Close()
		return nil, fmt.Errorf("the index of %s: %w", s.Dir, err)
	}
	return x, nil
}

// connect opens a database.
func connect(path string, query url.Values) (*sql.DB, error) {
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: query.Encode()}).String())
	if err == nil {
		db.SetMaxOpenConns(1) // one connection has the settings of a session
	}
	return db, err
}

// Close closes the database.
func (x *Index) Close() error {
	var err error
	if x.db != nil {
		err = x.db.Close()
		x.db = nil
	}
	if x.temporary != "" {
		err = errors.Join(err, os.RemoveAll(x.temporary))
	}
	return err
}

// update opens a database, makes it if it is missing or damaged, and adds what is new.
func (x *Index) update(ctx context.Context, path string, s *store.Store, say func(string, ...any)) error {
	for anew := false; ; anew = true {
		if anew {
			for _, end := range []string{"", "-wal", "-shm"} {
				if err := os.Remove(path + end); err != nil && !errors.Is(err, os.ErrNotExist) {
					return err
				}
			}
		}
		err := x.open(ctx, path)
		if err == nil {
			err = x.add(ctx, s, say)
		}
		if err == nil || anew || ctx.Err() != nil || !broken(err) {
			return err
		}
		if x.db != nil {
			x.db.Close()
			x.db = nil
		}
	}
}

// errVersion means that the tables are of another version.
var errVersion = errors.New("the tables are of another version")

// broken reports whether a database has to be made anew.
func broken(err error) bool {
	if errors.Is(err, errVersion) {
		return true
	}
	var coded interface{ Code() int }
	const corrupt, notADatabase, failed = 11, 26, 1 // SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_ERROR: a table is missing
	return errors.As(err, &coded) && slices.Contains([]int{corrupt, notADatabase, failed}, coded.Code()&0xff)
}

// open opens the file and makes the tables of a new one.
func (x *Index) open(ctx context.Context, path string) error {
	db, err := connect(path, url.Values{"_pragma": {"journal_mode(wal)", "busy_timeout(30000)", "synchronous(normal)"}, "_txlock": {"immediate"}})
	if err != nil {
		return err
	}
	x.db = db
	var have int
	if err := db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&have); err != nil {
		return err
	}
	switch have {
	case version:
		return nil
	case 0:
	default:
		return errVersion
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // nothing after a commit
	// Another process may have made them.
	if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&have); err != nil || have == version {
		return err
	}
	if _, err := tx.ExecContext(ctx, tables+fmt.Sprintf("PRAGMA user_version = %d;", version)); err != nil {
		return err
	}
	return tx.Commit()
}

// batch is the number of results of a transaction (our choice: some 100,000 rows).
const batch = 64

// add adds the results that the database does not have, and removes those that the store has no
// longer.
func (x *Index) add(ctx context.Context, s *store.Store, say func(string, ...any)) error {
	digests, err := s.Digests()
	if err != nil {
		return err
	}
	have, err := x.strings(ctx, "SELECT digest FROM runs ORDER BY digest")
	if err != nil {
		return err
	}
	missing := slices.DeleteFunc(slices.Clone(digests), func(d string) bool {
		_, ok := slices.BinarySearch(have, d)
		return ok
	})
	gone := slices.DeleteFunc(have, func(d string) bool {
		_, ok := slices.BinarySearch(digests, d)
		return ok
	})
	for list := range slices.Chunk(gone, batch) {
		if err := x.transaction(ctx, func(tx *sql.Tx) error { return remove(ctx, tx, list) }); err != nil {
			return err
		}
	}
	for list := range slices.Chunk(missing, batch) {
		if err := x.transaction(ctx, func(tx *sql.Tx) error { return insert(ctx, tx, s, list, say) }); err != nil {
			return err
		}
	}
	return x.view(ctx)
}

// transaction runs a function within a transaction.
func (x *Index) transaction(ctx context.Context, f func(*sql.Tx) error) error {
	tx, err := x.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // nothing after a commit
	if err := f(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// remove removes results.
func remove(ctx context.Context, tx *sql.Tx, digests []string) error {
	for _, table := range []string{"runs", "settings", "launches", "counters", "lines", "findings"} {
		for _, d := range digests {
			if _, err := tx.ExecContext(ctx, "DELETE FROM "+table+" WHERE digest = ?", d); err != nil {
				return err
			}
		}
	}
	return nil
}

// view makes the view points: a row for each result, with a column for each key that is set in
// any, and the number of cycles.
func (x *Index) view(ctx context.Context) error {
	keys, err := x.strings(ctx, "SELECT DISTINCT key FROM settings ORDER BY key")
	if err != nil {
		return err
	}
	var b strings.Builder
	b.WriteString("DROP VIEW IF EXISTS points; CREATE VIEW points AS SELECT r.digest, r.input, r.gpu, r.exit_code")
	for _, k := range keys {
		fmt.Fprintf(&b, ", (SELECT value FROM settings WHERE digest = r.digest AND key = %s) AS %s", quote(k, '\''), quote(k, '"'))
	}
	b.WriteString(", (SELECT value FROM counters WHERE digest = r.digest AND launch = -1 AND name = 'cycles') AS cycles, r.seconds, r.peak_bytes, r.made FROM runs r")
	return x.transaction(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, b.String())
		return err
	})
}

// quote writes a text or a name of SQL.
func quote(text string, q rune) string {
	return string(q) + strings.ReplaceAll(text, string(q), string(q)+string(q)) + string(q)
}

// strings returns the only column of a query.
func (x *Index) strings(ctx context.Context, query string) ([]string, error) {
	rows, err := x.db.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []string
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, rows.Err()
}
