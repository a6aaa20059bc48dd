package sqlite

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/tenon-agent/tenon/session"
)

// PutBlob implements [index.Store].
func (s *committer) PutBlob(ctx context.Context, id session.SessionID, data []byte) (string, error) {
	hash := hashOf(data)
	if data == nil {
		data = []byte{}
	}
	err := s.write(ctx, "keep a blob in", false, func(t *txn) error {
		h, err := t.holder(id)
		if err != nil {
			return err
		}
		if err := t.exec(`INSERT INTO blobs (hash, data) VALUES (?, ?) ON CONFLICT DO NOTHING`, hash, data); err != nil {
			return err
		}
		return t.exec(`INSERT INTO blob_uses (blob, session) SELECT key, ? FROM blobs WHERE hash = ? ON CONFLICT DO NOTHING`, h.key, hash)
	})
	if err != nil {
		return "", err
	}
	return hash, nil
}

// Blob implements [index.Store].
func (s *reader) Blob(ctx context.Context, hash string) ([]byte, error) {
	if err := s.ended(ctx); err != nil {
		return nil, err
	}
	var data []byte
	err := s.row(`SELECT data FROM blobs WHERE hash = ?`, []any{hash}, &data)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, fmt.Errorf("blob %s: %w", hash, session.ErrNotFound)
	case err != nil:
		return nil, s.fail("read a blob of", err)
	case hashOf(data) != hash:
		return nil, fmt.Errorf("session: %s: blob %s: %w: its content has another hash", s.path, hash, session.ErrCorrupt)
	}
	return data, nil
}

func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
