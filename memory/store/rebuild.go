package store

func (s *Store) finishSwap() error { return nil }

func (s *Store) rebuild(cause error) error { return cause }

func (s *Store) readBare() error { return ErrReadOnly }
